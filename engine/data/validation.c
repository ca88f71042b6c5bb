/* SPDX-License-Identifier: MIT */
#include "engine/data/validation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "base/text.h"

enum { CLASSES = 256 };

/* The key: with another one, runs that resume would validate on
 * rows that they were trained on. */
#define KEY 1

long validation_count(long rows, double share)
{
    return llround(share * (double)rows);
}

/* The largest remainders get what rounding down has left over; the first classes of equals. */
static void apportion(const long *rows, long total, long wanted, long *quota)
{
    double rest[CLASSES];
    long given = 0;
    for (int k = 0; k < CLASSES; k++) {
        double exact = (double)wanted * (double)rows[k] / (double)total;
        quota[k] = (long)exact;
        rest[k] = exact - (double)quota[k];
        given += quota[k];
    }
    for (; given < wanted; given++) {
        int most = 0;
        for (int k = 1; k < CLASSES; k++)
            if (rest[k] > rest[most])
                most = k;
        quota[most]++;
        rest[most] = -1;
    }
}

static bool check_quota(const struct data *data, const long *rows, const long *quota, double share,
                        struct error *err)
{
    char name[64];
    for (int k = 0; k < CLASSES; k++) {
        if (rows[k] == 0 || (quota[k] > 0 && quota[k] < rows[k]))
            continue;
        if (data->class_names)
            snprintf(name, sizeof name, "%s", data->class_names[k]);
        else
            snprintf(name, sizeof name, "%d", k);
        return error_set(err, ERROR_USAGE,
                         "validation %g: of the %ld training row%s of class %s in %s none would be "
                         "left for %s: give a %s share",
                         share, rows[k], plural(rows[k]), name, data->name,
                         quota[k] ? "training" : "validation", quota[k] ? "smaller" : "larger");
    }
    return true;
}

/* A random word of each row; equal ones, which are rare, go by the row. */
struct draw {
    uint32_t word, row;
};

static int compare_draws(const void *a, const void *b)
{
    const struct draw *x = a, *y = b;
    return x->word != y->word ? (x->word > y->word) - (x->word < y->word)
                              : (x->row > y->row) - (x->row < y->row);
}

/* Mark as many rows of each class as its quota is, those with the lowest words. */
static bool pick(const uint8_t *labels, long rows, long *quota, bool *own, struct error *err)
{
    const struct rng_stream stream = rng_stream(KEY, RNG_VALIDATION, 0, 0, 0);
    struct draw *draws = malloc((size_t)rows * sizeof *draws);
    if (!draws)
        return error_memory(err, "validation rows");
    for (long i = 0; i < rows; i++)
        draws[i] = (struct draw){rng_word(&stream, (uint64_t)i), (uint32_t)i};
    qsort(draws, (size_t)rows, sizeof *draws, compare_draws);
    for (long i = 0; i < rows; i++) {
        const uint32_t row = draws[i].row;
        own[row] = quota[labels[row]] > 0;
        quota[labels[row]] -= own[row];
    }
    free(draws);
    return true;
}

static bool list_rows(const bool *own, long rows, long wanted, struct validation *out,
                      struct error *err)
{
    out->train = malloc((size_t)(rows - wanted) * sizeof *out->train);
    out->own = malloc((size_t)wanted * sizeof *out->own);
    if (!out->train || !out->own)
        return error_memory(err, "validation rows");
    for (long i = 0; i < rows; i++) {
        if (own[i])
            out->own[out->rows++] = (uint32_t)i;
        else
            out->train[out->train_rows++] = (uint32_t)i;
    }
    return true;
}

bool validation_divide(const struct data *data, long rows, double share, struct validation *out,
                       struct error *err)
{
    const uint8_t *labels = data->train.labels;
    const long wanted = validation_count(rows, share);
    long counts[CLASSES] = {0}, quota[CLASSES];
    for (long i = 0; i < rows; i++)
        counts[labels[i]]++;
    apportion(counts, rows, wanted, quota);
    if (!check_quota(data, counts, quota, share, err))
        return false;
    bool *own = calloc((size_t)rows, sizeof *own);
    bool ok = own ? pick(labels, rows, quota, own, err) && list_rows(own, rows, wanted, out, err)
                  : error_memory(err, "validation rows");
    free(own);
    return ok;
}

/* SPDX-License-Identifier: MIT */
#include "engine/data/random.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "engine/data/dataset.h"

/*
 * "random:ROWSxCOLUMNS": vectors of N(0,1) numbers. A hidden unit vector w, the same for both
 * parts, gives the label: 1 where w.x plus some noise is positive. So a linear model can learn it,
 * up to about one row in ten. (The numbers pass through the C library's logarithm and cosine, whose
 * last bits are not the same in every library.)
 */

#define RANDOM_MOST_COLUMNS 1000000
#define RANDOM_MOST_VALUES  100000000L /* of a part: 400 MB */
#define RANDOM_NOISE        0.3        /* against w.x, which is N(0,1) */

/* Index of the random stream: the rows of each part, and the hidden rule. */
enum { PART_TRAIN, PART_TEST, PART_RULE };

static bool random_parse(const char *name, long *rows, long *columns, struct error *err)
{
    const char *size = strchr(name, ':') + 1, *cross = strchr(size, 'x');
    char *first = cross ? strndup(size, (size_t)(cross - size)) : NULL;
    if (cross && !first)
        return error_memory(err, name);
    bool ok = cross && isdigit((unsigned char)first[0]) && isdigit((unsigned char)cross[1]) &&
              parse_long(first, 1, DATA_MAX_ROWS, rows) &&
              parse_long(cross + 1, 1, RANDOM_MOST_COLUMNS, columns);
    free(first);
    if (!ok)
        return error_set(err, ERROR_USAGE,
                         "%s: expected random:ROWSxCOLUMNS with 1 to %d rows and 1 to %d columns, "
                         "as in random:100x5",
                         name, DATA_MAX_ROWS, RANDOM_MOST_COLUMNS);
    if (*columns > RANDOM_MOST_VALUES / *rows)
        return error_set(err, ERROR_USAGE, "%s: more than %ld numbers", name, RANDOM_MOST_VALUES);
    return true;
}

bool random_describe(const char *name, struct dataset *shape, struct error *err)
{
    long rows, columns;
    if (!random_parse(name, &rows, &columns, err))
        return false;
    *shape = (struct dataset){.rows = (int)rows,
                              .channels = (int)columns,
                              .height = 1,
                              .width = 1,
                              .classes = 2,
                              .is_numeric = true};
    return true;
}

static void fill_rows(uint64_t seed, uint32_t part, const double *rule, struct dataset *set)
{
    for (int row = 0; row < set->rows; row++) {
        struct rng_stream stream = rng_stream(seed, RNG_RANDOM_DATA, part, (uint32_t)row, 0);
        float *numbers = set->numbers + (size_t)row * (size_t)set->channels;
        double score = 0;
        for (int i = 0; i < set->channels; i++) {
            numbers[i] = (float)rng_normal(&stream, (uint64_t)i);
            score += rule[i] * numbers[i];
        }
        double noise = rng_normal(&stream, (uint64_t)set->channels);
        set->labels[row] = score + RANDOM_NOISE * noise > 0;
    }
}

bool random_make(const char *name, uint64_t seed, struct dataset *train, struct dataset *test,
                 struct error *err)
{
    if (!random_describe(name, train, err))
        return false;
    *test = *train;
    if (!dataset_allocate(train, true, name, err) || !dataset_allocate(test, true, name, err))
        return false;
    double *rule = calloc((size_t)train->channels, sizeof *rule), squares = 0;
    if (!rule)
        return error_memory(err, name);
    struct rng_stream stream = rng_stream(seed, RNG_RANDOM_DATA, PART_RULE, 0, 0);
    for (int i = 0; i < train->channels; i++) {
        rule[i] = rng_normal(&stream, (uint64_t)i);
        squares += rule[i] * rule[i];
    }
    for (int i = 0; i < train->channels; i++)
        rule[i] /= squares > 0 ? sqrt(squares) : 1;
    fill_rows(seed, PART_TRAIN, rule, train);
    fill_rows(seed, PART_TEST, rule, test);
    free(rule);
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/split/split.h"

#include <math.h>

#include "base/text.h"

static void split_chunk(long rows, int devices, long *sizes)
{
    long chunk = rows / devices + (rows % devices != 0);
    for (int i = 0; i < devices; i++) {
        sizes[i] = rows < chunk ? rows : chunk;
        rows -= sizes[i];
    }
}

static bool split_even(long rows, int devices, long *sizes, struct error *err)
{
    if (rows % devices != 0)
        return error_set(err, ERROR_USAGE,
                         "split even: %ld row%s cannot be divided equally over %d devices: use a "
                         "multiple of %d rows, or another split (chunk, balanced)",
                         rows, plural(rows), devices, devices);
    for (int i = 0; i < devices; i++)
        sizes[i] = rows / devices;
    return true;
}

static void split_balanced(long rows, int devices, long *sizes)
{
    for (int i = 0; i < devices; i++)
        sizes[i] = rows / devices + (i < rows % devices);
}

/*
 * Largest remainder (Hamilton's method). The quotas are computed in floating point, so their floors
 * could add up to one more than `rows`: `left` is what really remains, and shares are never handed
 * out beyond it.
 */
static bool split_weighted(const double *weights, long rows, int devices, long *sizes,
                           struct error *err)
{
    double remainder[SPEC_MAX_DEVICES], largest = 0, total = 0;
    for (int i = 0; i < devices; i++) {
        if (!isfinite(weights[i]) || weights[i] < 0)
            return error_set(err, ERROR_USAGE,
                             "split weighted: weight %d is %g: weights are numbers from 0 up", i,
                             weights[i]);
        largest = fmax(largest, weights[i]);
    }
    if (!(largest > 0))
        return error_set(err, ERROR_USAGE,
                         "split weighted: every weight is 0: give at least one device rows");
    /* Relative to the largest, so that the sum of huge weights stays finite. */
    for (int i = 0; i < devices; i++)
        total += weights[i] / largest;
    long left = rows;
    for (int i = 0; i < devices; i++) {
        double quota = (double)rows * (weights[i] / largest) / total;
        long whole = (long)floor(quota);
        sizes[i] = whole < left ? whole : left;
        /* A device of weight 0 gets no rows, however the rest is rounded. */
        remainder[i] = weights[i] > 0 ? quota - (double)sizes[i] : -INFINITY;
        left -= sizes[i];
    }
    while (left > 0) {
        int best = 0;
        for (int i = 1; i < devices; i++)
            if (remainder[i] > remainder[best])
                best = i;
        sizes[best]++;
        remainder[best] -= 1;
        left--;
    }
    return true;
}

bool split_rows(enum split_rule rule, const double *weights, long rows, int devices, long *sizes,
                struct error *err)
{
    if (devices < 1 || devices > SPEC_MAX_DEVICES)
        return error_set(err, ERROR_USAGE, "split: %d devices: from 1 to %d are possible", devices,
                         SPEC_MAX_DEVICES);
    if (rows < 0)
        return error_set(err, ERROR_USAGE, "split: %ld rows: a batch cannot be negative", rows);
    switch (rule) {
    case SPLIT_CHUNK:
        split_chunk(rows, devices, sizes);
        return true;
    case SPLIT_EVEN:
        return split_even(rows, devices, sizes, err);
    case SPLIT_BALANCED:
    case SPLIT_AUTO:
        split_balanced(rows, devices, sizes);
        return true;
    case SPLIT_WEIGHTED:
        return split_weighted(weights, rows, devices, sizes, err);
    }
    return error_set(err, ERROR_USAGE, "split: there is no rule %d", (int)rule);
}

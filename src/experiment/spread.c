/* SPDX-License-Identifier: MIT */
#include "experiment/spread.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct spread spread_of(double *values, size_t count)
{
    size_t kept = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            sum += values[i];
            values[kept++] = values[i];
        }
    if (kept == 0)
        return (struct spread){.mean = NAN, .median = NAN, .low = NAN, .high = NAN};
    qsort(values, kept, sizeof *values, by_value);
    return (struct spread){.count = (int)kept,
                           .mean = sum / (double)kept,
                           .median = (values[(kept - 1) / 2] + values[kept / 2]) / 2,
                           .low = values[0],
                           .high = values[kept - 1]};
}

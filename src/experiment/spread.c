/* SPDX-License-Identifier: MIT */
#include "experiment/spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"

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

const char *spread_range(const struct spread *spread,
                         const char *(*format)(struct figure *figure, double value), char *buffer,
                         size_t size)
{
    struct figure low, high;
    snprintf(buffer, size, "-");
    if (spread->count > 1)
        snprintf(buffer, size, "%s-%s", format(&low, spread->low), format(&high, spread->high));
    return buffer;
}

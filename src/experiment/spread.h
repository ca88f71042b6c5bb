/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "base/figure.h"

/* Of the finite ones among some values; all NAN when count is 0. */
struct spread {
    int count;
    double mean, median, low, high;
};

/* Sorts `values`. */
struct spread spread_of(double *values, size_t count);

/* "low-high", each as `format` has it; "-": one value has no range. */
const char *spread_range(const struct spread *spread,
                         const char *(*format)(struct figure *figure, double value), char *buffer,
                         size_t size);

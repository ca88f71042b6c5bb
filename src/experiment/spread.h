/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Of the finite ones among some values; all NAN when count is 0. */
struct spread {
    int count;
    double mean, median, low, high;
};

/* Sorts `values`. */
struct spread spread_of(double *values, size_t count);

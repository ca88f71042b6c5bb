/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_EXPERIMENT_SPREAD_H
#define DPARTUI_EXPERIMENT_SPREAD_H

#include <stddef.h>

/* Of the finite ones among some values; all NAN when count is 0. */
struct spread {
    int count;
    double mean, median, low, high;
};

/* Sorts `values`. */
struct spread spread_of(double *values, size_t count);

#endif

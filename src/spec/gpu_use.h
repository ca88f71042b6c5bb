/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

/*
 * How much of a GPU is in use, to find the least used ones: its load, 0 to 1, and its memory's
 * share together, in steps, so that small changes do not alter the order. A load that is not known
 * (NAN) comes after all others, and memory that is not known does not count.
 */
static inline double gpu_use(double load, double memory_used, double memory_total)
{
    const double share = memory_total > 0 && memory_used > 0 ? memory_used / memory_total : 0;
    return round(20 * ((isnan(load) ? 2 : fmax(load, 0)) + share)) / 20;
}

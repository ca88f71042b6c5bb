/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/* Who works on something inside a parallel region: number `self` of `size` threads, which are the
 * whole OpenMP team, or 0 of 1: this thread alone. */
struct team {
    size_t self, size;
};

/* Until all of them are here; all must come. */
static inline void team_wait(const struct team *team)
{
    if (team->size > 1) {
#pragma omp barrier
    }
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Which epochs of a run stay where there is no room for all of them: the first, the last, the best
 * by validation or test accuracy (the earliest of these) and those whose number is a multiple of a
 * stride, a power of two that grows until the rest fits. So what is left is an even curve, and
 * thinning it again gives the same as thinning all epochs by the larger stride.
 */
struct thinning {
    long first, last, best;
    double best_score; /* NAN: no epoch has one */
    bool any;
};

#define THINNING_INIT                                                                              \
    {                                                                                              \
        .any = false                                                                               \
    }

/* No run has as many epochs: by this stride nothing stays but the first, the last and the best. */
#define THINNING_STRIDE_MOST (1L << 21)

/* The epochs in their order, before anything is asked; `score` may be NAN. */
void thinning_add(struct thinning *thinning, long epoch, double score);

bool thinning_keeps(const struct thinning *thinning, long epoch, long stride);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* What a pass over the rows of a device comes to, and when. */

struct batch_result {
    double loss_sum; /* sum over the rows of the cross-entropy, before the update: in training
                        against the smoothed labels */
    long correct;
    /* Of each row the class with the largest logit, of equal ones the first, which is what
     * `correct` counts. The plan's memory, until the device's next pass. NULL: made without
     * `predictions`. */
    const uint8_t *predicted;
};

/* The moments of a pass that was queued, and of the step that it belongs to, on the device's own
 * clock. */
enum pass_moment {
    PASS_BEGUN,
    PASS_DONE,    /* its gradients and its result are there */
    PASS_REDUCED, /* the gradients are the sums over all devices */
    PASS_UPDATED, /* so are the new parameters */
    PASS_MOMENTS
};

/* This many passes may be queued after the one that is being waited for. */
enum { PASSES_AHEAD = 2, PASSES_QUEUED = PASSES_AHEAD + 1 };

/* Of the gradients of a pass that was queued: its own, and their sums over all devices. */
enum pass_squares { PASS_OWN_SQUARES, PASS_SUM_SQUARES, PASS_SQUARES };

struct pass_outcome {
    struct batch_result result;
    double squares[PASS_SQUARES]; /* sums of those that were asked for */
    /* From the moment before; 0 for PASS_BEGUN and where one of the two was not marked. */
    double seconds[PASS_MOMENTS];
};

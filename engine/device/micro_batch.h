/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Where a stage of a pipeline meets its neighbours: the values of the tensors that it enters and
 * exits by, and their gradients. */
enum stage_end {
    STAGE_INPUT,
    STAGE_INPUT_GRADIENT,
    STAGE_OUTPUT,
    STAGE_OUTPUT_GRADIENT,
    STAGE_ENDS
};

/* A part of a mini-batch's rows, as a stage is to compute it. The micro-batches of a mini-batch
 * come in one order, in both directions. */
struct micro_batch {
    int slot;             /* where what the backward pass reads is kept, below plan_request.slots */
    bool first, last;     /* of the mini-batch */
    long rows_before;     /* in the micro-batches before it */
    long deferred_before; /* backward: of those, since the last plan_finish */
    /* Memory of rows x stage_row bytes each, all rows of a tensor after those of the one before it,
     * borrowed, and the same in both directions: the host's, or of a stage_memory. NULL where the
     * network begins or ends. A pass may change the gradient that it reads. */
    void *ends[STAGE_ENDS];
};

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* What the stages of a pipeline do, one after the other, in a step. Pure. */

struct pipeline_task {
    bool backward;
    int micro_batch;
};

/*
 * The order of stage `stage` of `stages` (from 0): one forward, one backward (1F1B: D. Narayanan et
 * al., PipeDream, 2019). It begins with as many forward passes as there are stages from it on, and
 * one more where others follow, then alternates a backward and a forward pass, and ends with the
 * backward passes that are left: so it holds values of that many micro-batches at most. The one
 * more is what a stage works on while the next has not answered yet: passes take unequal times, as
 * the last stage's backward passes leave gradients for the end. Fills tasks[0..2 * micro_batches)
 * and returns their number.
 */
int pipeline_schedule(int stage, int stages, int micro_batches, struct pipeline_task *tasks);

/* How many micro-batches a stage holds values of at once: its forward passes before the first
 * backward pass. */
int pipeline_depth(int stage, int stages, int micro_batches);

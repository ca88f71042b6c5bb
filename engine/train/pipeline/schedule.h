/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "engine/train/split/micro.h"

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
 * the last stage's backward passes leave gradients for later. Fills tasks[0..2 * micro_batches)
 * and returns their number.
 */
int pipeline_schedule(int stage, int stages, int micro_batches, struct pipeline_task *tasks);

/*
 * A stage computes gradients that its passes have left (plan_finish) after each window of so many
 * micro-batches. It keeps less and leaves less for the end, when the stages before it have little
 * to do, than if it did so once. Windows are small enough that those stages, which have some
 * micro-batches in flight, hardly wait meanwhile: the passes of the last stage, which leaves most,
 * take less time than theirs. micro_batches > 0.
 */
int pipeline_window(int micro_batches);

/* How many windows a step has. */
static inline int pipeline_windows(int micro_batches)
{
    const int window = pipeline_window(micro_batches);
    return (micro_batches + window - 1) / window;
}

/* Whether one ends with this micro-batch. */
static inline bool pipeline_window_ends(int micro_batches, int micro_batch)
{
    return (micro_batch + 1) % pipeline_window(micro_batches) == 0 ||
           micro_batch + 1 == micro_batches;
}

/* The most rows of a window. */
long pipeline_window_rows(const struct micro_split *split);

/* How many micro-batches a stage holds values of at once: its forward passes before the first
 * backward pass. */
int pipeline_depth(int stage, int stages, int micro_batches);

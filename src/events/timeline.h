/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Reading "timeline" events, for those who show them: when the stages of a pipeline did what in one
 * step. What is missing or wrong is 0 or "".
 */

enum timeline_task { TIMELINE_WAIT, TIMELINE_FORWARD, TIMELINE_BACKWARD, TIMELINE_UPDATE };

/* A stage, and the share of its time in which it computes. It waits while the pipeline fills and
 * drains, until what it reads has been handed over, or, as it is faster, for the slowest stage. */
struct timeline_stage {
    const char *device, *last_layer; /* borrowed */
    double busy;
};

struct timeline {
    double step, seconds, micro_batches;
    double pipelines;  /* that there are; these are the stages of the first */
    bool drawn;        /* the passes are known; of too many there are only sums */
    double fill_drain; /* of all stages alike, where it is drawn */
    double transfer; /* likewise, on the mean over the stages: between a pass and its neighbour's */
    /* Part of the passes: what they take more than one over all rows would; 0: not known. */
    double small;
    double bubble;           /* on the mean over the stages: not busy */
    double predicted_bubble; /* of passes that each take as long as these on the mean */
    size_t stages;
    const json_t *list; /* of stages; borrowed */
};

struct timeline timeline_read(const json_t *event);
struct timeline_stage timeline_stage(const struct timeline *timeline, size_t index);

/* What a stage does longest between two moments, in seconds from the step's begin, or that it waits
 * for more than half of that, in which no pass has its middle: so short ones are seen too.
 * *micro_batch of a pass. */
enum timeline_task timeline_at(const struct timeline *timeline, size_t stage, double from,
                               double to, size_t *micro_batch);

/* Pass `index` of a stage in one direction: from when to when, in seconds. False: there are no
 * more.
 */
bool timeline_pass(const struct timeline *timeline, size_t stage, enum timeline_task task,
                   size_t index, double *from, double *to);

/* A row of `columns` characters for a stage: a digit for the forward pass of a micro-batch, by its
 * number modulo ten, a letter from a on for its backward pass, + for the update, . for waiting;
 * blank where it is not drawn. `text` has room for columns + 1; `tasks`, if not NULL, gets what
 * each one stands for. */
void timeline_row(const struct timeline *timeline, size_t stage, int columns, char *text,
                  enum timeline_task *tasks);

/* "step 24: 4.12 s, 21% bubble (predicted 18%): 14% fill and drain, 6% imbalance, 1% transfer", and
 * "; small micro-batches cost 9%" where that is known; "too many passes to draw" where there are.
 */
void timeline_summary(const struct timeline *timeline, char *buffer, size_t size);

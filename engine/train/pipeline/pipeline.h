/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/pipeline/handover.h"
#include "engine/train/pipeline/schedule.h"
#include "engine/train/split/micro.h"
#include "engine/train/step/ranks.h"
#include "engine/train/step/strategy.h"

/*
 * A run whose ranks are the stages of a pipeline: rank s computes stage s for all rows, one
 * micro-batch after the other. Of several pipelines each has some of the rows, and the ranks that
 * have one stage sum up their gradients. Each stage is its own thread's; the owner reads and writes
 * between tasks.
 */

/* When something was done, on clock_seconds. */
struct pipeline_span {
    double begin, end;
};

struct pipeline_stage {
    struct pipeline_task *tasks[PASS_SIZES]; /* of a step, two for each micro-batch */
    struct handover_counts counts;           /* of all tasks so far */
    double *seconds;                         /* measured: as pipeline_ends takes them */
    /* Of the last full step. */
    struct pipeline_span *spans, update; /* spans: of tasks[PASS_FULL] */
    struct pipeline_span *finish;        /* of each window, what was left; empty: nothing was */
    /* Of the last short one: a micro-batch's rows, and what its passes took, on the mean; 0: there
     * has been none. */
    double short_rows, short_s;
    double step_s; /* of the passes of the newest step */
};

/* The ranks that have one stage, in the order of their pipelines. */
struct pipeline_group {
    struct sync_group group;
    struct sync_end ends[SPEC_MAX_DEVICES];
    int parties[SPEC_MAX_DEVICES];
    const char *names[SPEC_MAX_DEVICES];
    size_t bucket_ends[SYNC_MAX_BUCKETS];
};

struct pipeline {
    struct ranks *ranks;
    int stages, count; /* of each pipeline; how many pipelines there are */
    /* By pipeline: of its rows in a full mini-batch and in a short one. */
    struct micro_split split[SPEC_MAX_DEVICES][PASS_SIZES];
    struct handover *handover[SPEC_MAX_DEVICES];
    struct pipeline_group groups[SPEC_MAX_DEVICES]; /* by stage; of one pipeline not used */
    long step, reported; /* the last full step, and the last that was reported */
    double begin;        /* of that */
    struct pipeline_stage stage[SPEC_MAX_DEVICES]; /* by rank */
};

/* For ranks that were started, before their first task; the spec is resolved. Sets
 * ranks->pipeline. */
bool pipeline_create(struct ranks *ranks, struct error *err);
void pipeline_destroy(struct pipeline *pipeline);

/* Decide how the ranks of each stage sum up their gradients, after they were prepared; they join
 * then. *tried and *why as of sync_choose. */
bool pipeline_connect(struct pipeline *pipeline, int *tried, struct error *why, struct error *err);

/* Where a rank hands over to the stages before and after it. */
static inline struct handover *pipeline_handover(const struct rank *rank)
{
    return rank->ranks->pipeline->handover[rank->pipeline_index];
}

/* Each rank trains a stage. */
extern const struct strategy_tasks strategy_pipeline;

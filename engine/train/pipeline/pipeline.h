/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/pipeline/handover.h"
#include "engine/train/pipeline/schedule.h"
#include "engine/train/split/micro.h"
#include "engine/train/step/ranks.h"
#include "engine/train/step/strategy.h"

/*
 * A run whose ranks are the stages of a pipeline: rank s computes stage s for all rows, one
 * micro-batch after the other. Each stage is its own thread's; the owner reads and writes between
 * tasks.
 */

/* When something was done, on clock_seconds. */
struct pipeline_span {
    double begin, end;
};

struct pipeline_stage {
    struct pipeline_task *tasks[PASS_SIZES]; /* of a step, two for each micro-batch */
    struct handover_counts counts;           /* of all tasks so far */
    double *seconds;                         /* measured: for each operation of the network */
    /* Of the last full step. */
    struct pipeline_span *spans, update; /* spans: of tasks[PASS_FULL] */
};

struct pipeline {
    struct ranks *ranks;
    struct micro_split split[PASS_SIZES]; /* of a full mini-batch and of a short one */
    struct handover *handover;
    long step, reported; /* the last full step, and the last that was reported */
    double begin;        /* of that */
    struct pipeline_stage stage[SPEC_MAX_DEVICES];
};

/* For ranks that were started, before their first task; the spec is resolved. Sets
 * ranks->pipeline. */
bool pipeline_create(struct ranks *ranks, struct error *err);
void pipeline_destroy(struct pipeline *pipeline);

/* Each rank trains a stage. */
extern const struct strategy_tasks strategy_pipeline;

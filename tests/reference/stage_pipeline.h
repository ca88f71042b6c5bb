/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/stage.h"
#include "tests/reference/trial.h"

/* A network's stages, one device each, that a mini-batch goes through in micro-batches. */

enum { MOST_STAGES = 4, MICRO_BATCHES = 3, STAGE_SLOTS = 2, STAGE_ROWS = 8 };

extern const int stage_micro_rows[MICRO_BATCHES];

/* A device for each stage, and what they hand over: [stage][end][slot] is read by this stage. */
struct stage_pipeline {
    const struct trial *trial;
    int stages;
    int finish_rows; /* of plan_request; 0: nothing is left to plan_finish */
    bool finished;   /* something was */
    struct net_stage stage[MOST_STAGES];
    struct rig rig[MOST_STAGES];
    struct plan *plan[MOST_STAGES][STAGE_ROWS + 1]; /* by rows */
    void *ends[MOST_STAGES][STAGE_ENDS][STAGE_SLOTS];
    void *owned[MOST_STAGES]; /* memory of ends, of stages in the host's */
    int owned_count;
};

int stage_rows_before(int micro_batch);

/* Cut after ends[0..stages - 2]. To be closed. */
void pipeline_open(struct stage_pipeline *pipeline, const struct trial *trial,
                   const struct trial_device *device, const int *ends, int stages, int finish_rows);
/* Plans to train by. */
void pipeline_plan(struct stage_pipeline *pipeline);
/* A mini-batch in both directions; release `out` with outcome_free. */
void pipeline_run(struct stage_pipeline *pipeline, struct outcome *out);
void pipeline_close(struct stage_pipeline *pipeline);

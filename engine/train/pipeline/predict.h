/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "spec/spec.h"

/* What a step of a pipeline takes, before any has run. Pure. */

struct pipeline_prediction {
    double step_s;
    /* Shares of the step in which a stage has nothing to do. Filling and draining the pipeline
     * costs all of them the same, waiting for the slowest stage the faster ones. */
    double fill_drain;
    double imbalance[SPEC_MAX_DEVICES];
    double bubble; /* both, on average over the stages */
};

/*
 * Play a step of `micro_batches` through: forward_s[i] and backward_s[i] are the seconds of stage i
 * for one micro-batch, what it hands over included, and finish_s[i], where it is not NULL, those
 * of what it does once for a window of them (schedule.h), all windows together. For equal stages
 * the bubble is (stages - 1) / (micro_batches + stages - 1). Fails when memory runs out.
 */
bool pipeline_predict(const double *forward_s, const double *backward_s, const double *finish_s,
                      int stages, int micro_batches, struct pipeline_prediction *out,
                      struct error *err);

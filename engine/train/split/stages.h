/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * How a network is divided into the stages of a pipeline: device s computes stage s, and a step
 * lasts as long as its slowest stage makes it. That begins after the first micro-batch has come
 * through the stages before it, and the last one goes back through them after it. Pure.
 */

/* Seconds for one micro-batch, forward and backward. The cuts that are possible divide the network
 * into cuts + 1 segments. */
struct stage_costs {
    const double *seconds;  /* [stage][segment]: of the segment on the device of the stage */
    const double *transfer; /* [cut]: that handing over there costs the stages on both sides */
    double fill; /* 1 / micro-batches: this share of what the stages before one take, on devices of
                    mean speed, is added to its own seconds; 0: nothing */
};

/*
 * Choose stages - 1 of the cuts, chosen[] ascending from 0, so that the slowest stage, `fill`
 * included, needs as little as can be; among equals the smallest sum of transfers, then the
 * earliest cuts. Exact: dynamic programming over all choices. ERROR_USAGE: there are fewer cuts
 * than that.
 */
bool stages_choose(const struct stage_costs *costs, int cuts, int stages, int *chosen,
                   struct error *err);

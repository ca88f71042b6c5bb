/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/update.h"
#include "engine/weights/weights.h"
#include "spec/spec.h"

/*
 * The optimizer of a run: which rule updates its parameters, and with which numbers. The rules'
 * arithmetic is in update.h; each backend has a loop for each (`update` in device.h).
 */

/* The arrays that a run keeps besides its weights, as PyTorch calls them: the entries of
 * checkpoints are "PARAMETER.exp_avg". Replicas have them in this order. With an average of the
 * parameters it is the last: checkpoints have the average as the weights, and the parameters that
 * are trained, which change places with it to be saved, as "PARAMETER.unaveraged". */
struct state_arrays optimizer_states(const struct spec *spec);

/* Which of them is the average; -1: there is none. */
int optimizer_average(const struct spec *spec);

/* What a replica has besides parameters and gradients. */
struct replica_request {
    int states;  /* of these arrays; 0 where another rank updates the parameters */
    bool spares; /* weight decay leaves parameters with one dimension alone */
    const struct net_stage *stage; /* it has the parameters of these operations alone; NULL: all */
};

struct replica_request optimizer_request(const struct spec *spec, int rank);

/* Step `number` of the run, from 1, with this learning rate. What the rule remembers began as zeros
 * after step `begun`. */
struct optimizer_step optimizer_step(const struct spec *spec, double lr, long number, long begun);

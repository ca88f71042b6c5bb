/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/collective.h"

/* A run of collective between GPUs, as workers of a run use them, on made-up gradients. */

enum { TRIAL_RANKS = 4, TRIAL_COUNT = 16 * 37, TRIAL_STEPS = 3 };

/* What a rank was left with. */
struct trial_result {
    float grads[TRIAL_STEPS][TRIAL_COUNT]; /* after the reduction of each step */
    float params[TRIAL_COUNT];             /* sent out; those of rank 0 are 0, 1, 2, ... */
    bool ok;
    struct error err;
};

struct collective_trial {
    const struct collective *collective;
    enum sync_method method;
    int count;
    const int *ordinals; /* which GPUs */
    double limit_s;      /* below 60: something is to hang, and what failed keeps its memory */
    int absent;          /* the rank that does not ask for its second reduction; -1: none */
    bool absent_at_join; /* nor for its communicator */
    int stopped;         /* the rank (from 1) that looks at nothing it waits for; 0: none */
    /* Each rank queues all of its steps before the next one queues anything. Links that only
     * queue. */
    bool ahead;
    long host_waits; /* with `ahead`: calls that wait or look whether something is done meanwhile */
    struct trial_result results[TRIAL_RANKS];
};

/* The gradients before, numbers whose sum depends on the order in which they are added. */
float trial_gradient(int rank, int step, size_t at);

/* False: these collective do not serve the GPUs; *err says why. */
bool collective_trial_run(struct collective_trial *trial, struct error *err);

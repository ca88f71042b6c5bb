/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_ENGINE_DEVICE_CUDA_COLLECTIVE_LINK_TRIAL_H
#define DPARTUI_TESTS_ENGINE_DEVICE_CUDA_COLLECTIVE_LINK_TRIAL_H

#include "engine/device/cuda/collective/group.h"

/* A run of links between GPUs, as workers of a run use them, on made-up gradients. */

enum { LINK_MEMBERS = 4, LINK_COUNT = 16 * 37, LINK_STEPS = 3 };

/* What a member was left with. */
struct link_result {
    float grads[LINK_STEPS][LINK_COUNT]; /* after the reduction of each step */
    float params[LINK_COUNT];            /* sent out; those of member 0 are 0, 1, 2, ... */
    bool ok;
    struct error err;
};

struct link_trial {
    const struct links *links;
    enum sync_method method;
    int count;
    const int *ordinals; /* which GPUs */
    double limit_s;      /* below 60: something is to hang, and what failed keeps its memory */
    int absent;          /* the member that does not ask for its second reduction; -1: none */
    bool absent_at_join; /* nor for its communicator */
    int stopped;         /* the member (from 1) that looks at nothing it waits for; 0: none */
    /* Each member queues all of its steps before the next one queues anything. Links that only
     * queue. */
    bool ahead;
    long host_waits; /* with `ahead`: calls that wait or look whether something is done meanwhile */
    struct link_result results[LINK_MEMBERS];
};

/* The gradients before, numbers whose sum depends on the order in which they are added. */
float link_gradient(int member, int step, size_t at);

/* False: these links do not serve the GPUs; *err says why. */
bool link_trial_run(struct link_trial *trial, struct error *err);

#endif

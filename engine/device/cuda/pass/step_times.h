/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/libraries/api.h"
#include "engine/device/device.h"

/*
 * What the steps of a profiled plan take on the device: an event before each step and one
 * after it, on the pass's stream. Each step is started by the host alone, so where the device is
 * done before the host has started the next kernel, the step's time is the host's.
 */
struct step_times {
    struct plan_time *list; /* per step; NULL: nobody wants to know */
    cudaEvent_t *events;    /* twice as many, before and after each step */
    int count;
    bool on; /* for the running pass */
};

/* Take over the descriptions of the plan's steps, and make the events. What was made is given back
 * by step_times_free, on failure too. */
bool step_times_make(struct plan *plan, struct error *err);
void step_times_free(struct step_times *times);

/* Queue the steps [begin, end) of a pass with their events. */
bool step_times_queue(struct plan *plan, int begin, int end, struct error *err);

/* Add up what the steps [begin, end) of the pass took; when it has ended. */
bool step_times_take(struct step_times *times, int begin, int end, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/train/profile/times.h"

/*
 * Where the time of a run's steps went: per device by operation of the network, and by what is
 * outside of them. All parts together are the steps' wall time on every device. Seconds are sums
 * over all steps.
 */
enum profile_part {
    PROFILE_OPERATIONS, /* of the network */
    PROFILE_INPUT,      /* gathering rows */
    PROFILE_LOSS,       /* and what is counted with it, and its gradient */
    PROFILE_OPTIMIZER,
    PROFILE_SYNC,    /* keeping the replicas equal, as far as nothing hides it; handing over
                        between stages */
    PROFILE_WAIT,    /* for other devices */
    PROFILE_SPLIT,   /* giving the devices their task, and waiting for the answer */
    PROFILE_METRICS, /* metrics and events, while no device works */
    PROFILE_REST,    /* of the steps' time; worked out in the end */
    PROFILE_PARTS
};

struct profile_device {
    double part[PROFILE_PARTS];
    long rows;
    bool passes_only;                /* its operations are not timed one by one */
    double flops_limit, bytes_limit; /* of the device, per second; 0: not known */
    /* By operation, direction and method; flops and bytes are those of all calls. */
    struct plan_time *list;
    int count, capacity;
};

struct profile {
    long steps, left_out;
    double seconds; /* wall */
    /* Left out as well: steps that ran as without the profile, to show what it costs. */
    long unprofiled_steps;
    double unprofiled_s; /* wall */
    struct profile_device devices[SPEC_MAX_DEVICES];
};

/* Drop all that was measured so far. */
void profile_clear(struct profile *profile);
void profile_free(struct profile *profile);

/* The entry of a device for an operation, by layer, direction and method: NULL: it has none. Looks
 * at the one of index `hint` first: devices of one kind have theirs at the same places. */
struct plan_time *profile_find(const struct profile_device *device, const struct plan_time *like,
                               int hint);

/* Times of plans, which are set back to 0; each device on its own thread. */
bool profile_take(struct profile_device *device, struct plan_time *times, int count,
                  struct error *err);

/* When a step began, when all devices had done it, and when it was over, on clock_seconds. */
struct profile_moments {
    double begin, joined, end;
};

/* What devices 0..count-1 did in one step outside their plans. */
void profile_step(struct profile *profile, const struct profile_moments *moments,
                  const struct step_part *parts, int count);

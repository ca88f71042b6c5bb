/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "engine/device/collective.h"

/*
 * The real CPU devices, linked in place of engine/backends/registry.c, that also pose as GPUs: a
 * second kind whose memory the host may only reach through the backend. They compute as CPU devices
 * do, so runs on them can be compared with runs on those. With faults on request.
 */

enum posing_phase {
    POSING_NEVER,
    POSING_OPEN,
    POSING_FACTS,
    POSING_PLAN,
    POSING_JOIN, /* of the collective; where there is none, the making of the stage */
    POSING_PASS,
    POSING_BUCKET,    /* when a bucket of the gradients is ready; of a stage, its backward pass */
    POSING_REDUCTION, /* reading the arena, or waiting for the collective */
    POSING_WRITE,     /* writing it */
    POSING_UPDATE,
    POSING_SAVE, /* handing out the momentum for a checkpoint */
    POSING_PHASES
};

struct posing {
    _Atomic enum posing_phase
        phase; /* where the device of this index has its fault, on its second pass */
    int device;
    bool hangs; /* instead of failing */
    bool has_collective, collective_refuses;
    bool collective_breaks;    /* when joined, rather than when created */
    struct device_facts facts; /* of every posing device */
    double row_s[4]; /* what posing_clock takes each row for, on the devices of these indices */
    unsigned evaluation_us;       /* that a pass of an evaluation takes at least */
    atomic_int evaluations;       /* such passes */
    atomic_bool go_on;            /* hanging devices come back */
    atomic_int opened, closed;    /* posing devices */
    atomic_int joined, left;      /* of groups of devices */
    atomic_int stages;            /* not yet given back */
    atomic_int buckets, overlaps; /* reduced by the collective in all; of them during a pass */
    atomic_int first_passes;      /* training passes that are their devices' first, done */
    atomic_int misuse;
};

extern struct posing posing;

void posing_reset(void);

/* Time of the calling device's thread, in which nothing but passes over rows. */
double posing_clock(void);

/* posing_collective.c: sums of what was ready, by the threads of the devices, in their order. */
extern const struct collective posing_collective;

/* The device of the calling thread is at `phase`. False: it fails there. */
bool posing_fault(enum posing_phase phase, struct error *err);
/* Is the calling thread's device in a pass? */
bool posing_in_pass(void);
void posing_check(bool correct);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "engine/device/device.h"

/*
 * A backend for tests of runs, linked in place of the real ones: plain softmax regression on CPU
 * devices, for networks that are one linear layer. It computes honestly, checks that it is used as
 * the device interface says, and has faults on request.
 */

enum { FAKE_ROWS = 1024 };

struct fake {
    /* Faults: of the device of that place in the run, at its training pass `pass` from 1. */
    int device;
    long pass;
    bool fails, hangs, gives_nan;
    bool fails_to_open;
    bool fails_in_evaluation;
    const char *note; /* of its plans from that pass on; NULL: none */
    int slow_device;  /* sleeps in every pass */
    unsigned slow_us;
    double row_s[4];   /* what fake_clock takes each row for, on the devices of these indices */
    bool competing;    /* for one processor: a pass takes as long as all rows of the batch do */
    atomic_bool go_on; /* hanging devices come back */
    atomic_int opened, closed, hanging;
    atomic_int plans, most_plans; /* on all devices together: now, and at most */
    atomic_int misuse;            /* calls on a wrong thread, with wrong rows, ... */
    /* How often each row was trained and evaluated. */
    atomic_int trained[FAKE_ROWS], evaluated[FAKE_ROWS];
};

extern struct fake fake;

/* Time of the calling device's thread, in which nothing but training passes. */
double fake_clock(void);

/* No faults, nothing counted. */
void fake_reset(void);

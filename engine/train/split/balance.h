/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "spec/spec.h"

/*
 * How `split auto` divides a batch over devices of unequal speed: by the rows per second that each
 * is measured to do. A step lasts as long as its slowest device, so it is shortest when all need
 * the same time, and shares in proportion to speed lead there. Time need not be proportional to
 * rows: times are measured again after every change, and the shares settle where the times are
 * equal. Pure.
 *
 * New shares need new plans, which costs time, and measured times are noisy. So a change is
 * proposed only when
 *  - every device has been measured for some steps since the last change, without the first of
 *    them, when caches and clocks are still getting used to it;
 *  - a step should take 5 % less time by it, and more than four standard errors of the
 *    measurements, so that noise alone moves nothing;
 *  - what the present shares have cost since the last change would have paid for new plans. (The
 *    rule for renting skis: then the whole cost is at most twice that of knowing the future.)
 *
 * Every device keeps a row at least: so it stays measured, and returns when it becomes faster.
 *
 * Devices that compete for the same cores, memory or bus do not become faster by fewer rows: what
 * one has less, the others have more, and a step takes as long as before. So every change is
 * checked: when steps have not become shorter by a quarter of what was promised, it is reverted,
 * and the next try has to wait, each time twice as long, until one pays.
 */

enum {
    BALANCE_SKIPPED = 2,   /* steps after a change that do not count */
    BALANCE_LEAST = 8,     /* measured steps before the next change */
    BALANCE_WINDOW = 32,   /* the newest measured steps, of which the median counts */
    BALANCE_PATIENCE = 64, /* steps to wait after the first change that did not pay */
    BALANCE_PATIENCE_MOST = 16384,
};

struct balance {
    int devices;
    long shares[SPEC_MAX_DEVICES];                    /* rows of a full batch */
    long steps;                                       /* since the last change */
    double seconds[SPEC_MAX_DEVICES][BALANCE_WINDOW]; /* of one row */
    double step_s[BALANCE_WINDOW];                    /* of the device that needed longest */
    struct {
        bool open; /* it is not known yet whether it paid */
        long shares[SPEC_MAX_DEVICES];
        double step_s, gain; /* a step before, and what was promised */
    } change;                /* the last one */
    long wait;               /* steps since the last change before which there is no other */
    long patience;           /* what `wait` will be if another one does not pay */
};

/* Better shares, and why. */
struct balance_advice {
    long shares[SPEC_MAX_DEVICES];
    double rows_per_s[SPEC_MAX_DEVICES]; /* as measured */
    double gain;                         /* part of a step's computing time that should be saved */
    bool back;    /* to the shares before the last change, of which `gain` was hoped for */
    double saved; /* what it has saved instead; may be negative */
    long wait;    /* steps before another try */
};

/* Measuring begins, with these shares of a full batch. */
void balance_begin(struct balance *balance, const long *shares, int devices);

/* Each device's seconds in the forward and backward pass of one full batch. */
void balance_measure(struct balance *balance, const double *seconds);

/*
 * After a measured step: is there something better? `cost_s`: what a change costs. Never when there
 * are fewer rows than devices, or only one device.
 */
bool balance_propose(struct balance *balance, double cost_s, struct balance_advice *advice);

/* The advice has been taken; what was measured before is dropped. */
void balance_change(struct balance *balance, const struct balance_advice *advice);

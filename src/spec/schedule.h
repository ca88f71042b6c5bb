/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Schedules of the learning rate: which share of a run's learning rate, its highest one, each step
 * has. A pure function of the step's number, so that a run that is resumed has the rates that it
 * would have had, and the workbench can show them before.
 *
 * With t the steps done before, T those of the whole run, W those of the warm-up, and E the steps
 * of an epoch, in the terms of torch.optim.lr_scheduler, stepped once a step:
 *
 *     constant             1
 *     step:N[:FACTOR]      StepLR(N E, gamma=FACTOR), by default 0.1
 *     multistep:N,M..[:F]  MultiStepLR([N E, M E, ..], gamma=F), by default 0.1
 *     cosine[:END]         CosineAnnealingLR(T - W, eta_min=END lr), by default 0
 *     linear[:END]         LinearLR(1, end_factor=END, total_iters=T - W), by default 0
 *     one-cycle[:PEAK_AT]  OneCycleLR(lr, total_steps=T, pct_start=PEAK_AT), by default 0.3
 *     triangle[:PEAK_AT]   the same with anneal_strategy="linear"
 *     range[:BEGIN]        ExponentialLR from BEGIN lr to lr in T - 1 steps, by default from 1e-5
 *     warm-up              LinearLR(1 / (W + 1), total_iters=W): (t + 1) / (W + 1) below step W
 *
 * Cosine and linear begin when the warm-up is over (SequentialLR); the others count from the first
 * step, and the warm-up multiplies them (ChainedScheduler). Epochs may be fractions, of whole
 * steps.
 */

enum lr_shape {
    LR_CONSTANT,
    LR_STEP,
    LR_MULTISTEP,
    LR_COSINE,
    LR_LINEAR,
    LR_ONE_CYCLE,
    LR_TRIANGLE,
    LR_RANGE,
    LR_SHAPES
};

enum { LR_MILESTONES = 16 };

struct lr_schedule {
    enum lr_shape shape;
    double value; /* FACTOR, END, PEAK_AT or BEGIN */
    int count;    /* of LR_STEP 1, of LR_MULTISTEP some: */
    double epochs[LR_MILESTONES];
    double warmup; /* in epochs; 0: none */
};

/* How long a run is. */
struct lr_length {
    long epoch_steps; /* above 0 */
    long total_steps;
};

/* The share of the learning rate that the step after `step` others has: 1 without a schedule, above
 * 0 for each step of the run. */
double lr_share(const struct lr_schedule *schedule, struct lr_length length, long step);

/* The steps of a number of epochs, or of a part of one. */
long lr_epoch_steps(struct lr_length length, double epochs);

/* Does the rate of a run stay what it is? */
bool lr_is_constant(const struct lr_schedule *schedule);

/* Does it begin with the highest rate? Where that grows with the batch, a warm-up helps. */
bool lr_begins_highest(const struct lr_schedule *schedule);

/* Set all but the warm-up from its text form. ERROR_USAGE says what is accepted. */
bool lr_schedule_parse(struct lr_schedule *schedule, const char *text, struct error *err);
/* The inverse, without what is as by default; a new string, NULL: out of memory. */
char *lr_schedule_text(const struct lr_schedule *schedule);
/* What a text form begins with, by the shape, with ':' where more has to follow; NULL after all. */
const char *lr_schedule_word(size_t index);

/*
 * Is the warm-up not longer than the run? ERROR_USAGE says what to do. Runs without epochs, which
 * only evaluate, have no rate.
 */
bool lr_schedule_check(const struct lr_schedule *schedule, long epochs, struct error *err);

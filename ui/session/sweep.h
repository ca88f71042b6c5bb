/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "experiment/sweep.h"
#include "spec/spec.h"
#include "ui/state/state.h"

/* Sweeps: the same training on 1, 2, 4... devices. */

struct ui;

/*
 * The devices to take the first ones of: those chosen, in their order, or, while only one is
 * chosen, all of its kind that the engine lists.
 */
void sweep_devices(const struct ui *ui, struct device_list *list);
/* Is the question of a sweep open, whose plan is in ui->compare.sweep? */
bool sweep_is_asked(const struct ui *ui);
/* The runs of the sweep, of devices or of values, that is submitted. */
int sweep_runs(const struct ui *ui);

/* How far a sweep is whose runs have not all ended. */
struct sweep_progress {
    int count; /* its runs, by rising number of devices */
    const struct state_run *runs[SWEEP_RUNS];
    int ended, waiting;
    const struct state_run *live; /* the one that trains; NULL: none just now */
    double left_s;                /* until the last one ends; NAN: not known */
    bool at_least;                /* it may well be more */
};
bool sweep_progress(const struct ui *ui, struct sweep_progress *progress);

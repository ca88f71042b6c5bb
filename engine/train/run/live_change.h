/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/run/control.h"

#include "base/error.h"

struct run;

/*
 * Changes from outside take effect between two steps, and each at once becomes an event; so the log
 * says exactly which steps were done under which settings. Steps that the devices have been given
 * already come first.
 */

/* What can change while a run trains. */
struct live_settings {
    struct run_control *control;
    double lr; /* that the schedule takes shares of: the spec's, then scaled with each change */
    long total_steps; /* of the whole run, by its epochs and limits */
    bool paused;
    bool stops_after_epoch; /* as asked; may be cancelled */
};

/* The learning rate of the step after `steps` others; that of the last step if there is none. */
double live_lr(const struct run *run, long steps);
/* Let the changes take effect that others have asked for. A stop for now or after this step is none
 * of them (run_control_stop_asked). */
bool live_take_changes(struct run *run, struct error *err);
/* Return once the run is not paused (any more). Adds the seconds to *paused_s. */
bool live_wait_while_paused(struct run *run, double *paused_s, struct error *err);
/*
 * After an evaluation, with all changes taken: *done if nothing is left to train, and then nothing
 * can be added any more; run->stopped if the run was to end with this epoch.
 */
bool live_settle(struct run *run, bool *done, struct error *err);

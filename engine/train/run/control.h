/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

/* What other threads may ask of a run. */

/* In ascending order of urgency. */
enum run_stop {
    RUN_STOP_NONE,
    RUN_STOP_EPOCH, /* after the running epoch and its evaluation, save weights if asked; may be
                       cancelled until then */
    RUN_STOP_STEP,  /* after the steps that devices have, save weights if asked */
    RUN_STOP_NOW,   /* drop everything as soon as the devices answer */
};

/*
 * Written by any thread with the functions below, read by the run between steps, and NOW also
 * inside waits. Every change is reported as a "retune" event when it takes effect.
 */
struct run_control {
    atomic_int stop;    /* enum run_stop */
    _Atomic double lr;  /* > 0: learning rate from the next step on; 0: as it is. Set back to 0 by
                           the run when it has taken it. */
    atomic_long epochs; /* > 0: how many are wanted; 0: as many as before. Also set back, and to
                           RUN_EPOCHS_FINAL when it is too late for another number. */
    atomic_bool paused;
};

#define RUN_EPOCHS_FINAL (-1)

void run_control_init(struct run_control *control);
/* Ask for the end; never less urgently than before. STEP and NOW end a pause. */
void run_control_stop(struct run_control *control, enum run_stop how);
/* Cancel RUN_STOP_EPOCH. False: the run is being stopped already. */
bool run_control_cancel_stop(struct run_control *control);
/* Ask for another number of epochs, above 0. False: the last one has been trained already. */
bool run_control_set_epochs(struct run_control *control, long epochs);
/* The same, unless another number is asked for already. */
void run_control_keep_epochs(struct run_control *control, long epochs);

/* How urgently its end has been asked for. */
enum run_stop run_control_stop_asked(const struct run_control *control);

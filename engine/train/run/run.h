/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_RUN_RUN_H
#define DPARTUI_ENGINE_TRAIN_RUN_RUN_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/device/device.h"
#include "spec/spec.h"

/*
 * One training run from a validated spec to its end, on the calling thread, with one worker thread
 * per device below it. Everything it has to say goes through `struct run_sink`; it knows nothing
 * of sockets.
 */

enum run_phase { PHASE_PREPARE, PHASE_TRAIN, PHASE_EVAL, PHASE_SAVE, PHASE_ENDED };

/* Ascending urgency. */
enum run_stop {
    RUN_GO_ON,
    RUN_STOP_EPOCH, /* finish after the running epoch and its evaluation, save weights if asked; may
                       be taken back until then */
    RUN_STOP_STEP,  /* finish after the steps that devices have, save weights if asked */
    RUN_STOP_NOW,   /* drop everything as soon as the devices answer */
};

/*
 * What others want of a run. Written by any thread with the functions below, read by the run
 * between steps, and NOW also inside waits. Every change is reported as a "retune" event when it
 * takes effect.
 */
struct run_control {
    atomic_int stop;    /* enum run_stop */
    _Atomic double lr;  /* > 0: learning rate from the next step on; 0: as it is. Set back to 0 by
                           the run when it has taken it. */
    atomic_long epochs; /* > 0: how many are wanted; 0: as many as before. Set back likewise, and to
                           RUN_EPOCHS_FINAL when it is too late for another number. */
    atomic_bool paused;
};

#define RUN_EPOCHS_FINAL (-1)

void run_control_init(struct run_control *control);
/* Ask for the end; never less urgently than before. STEP and NOW end a pause. */
void run_control_stop(struct run_control *control, enum run_stop how);
/* Take RUN_STOP_EPOCH back. False: the run is being stopped already. */
bool run_control_go_on(struct run_control *control);
/* Ask for another number of epochs, above 0. False: the last one has been trained already. */
bool run_control_set_epochs(struct run_control *control, long epochs);

/* Newest figures of a device in a run. */
struct run_device {
    struct device_id id;
    const char *state;                /* "prepare", "train", "eval", "wait", "idle", "failed" */
    long rows;                        /* of the current shard */
    double samples_per_s;             /* while it computed, over the last second or so */
    double compute_s, sync_s, wait_s; /* this epoch: computing; reducing; waiting for others/data */
    uint64_t memory_bytes;            /* planned for this run */
};

/* A snapshot for viewers, delivered at most a few times a second and at every change of phase. */
struct run_progress {
    enum run_phase phase;
    long epoch, epochs, step, total_steps; /* step counts over the whole run, from 1 */
    long epoch_step, steps_per_epoch;
    double lr, train_loss, train_acc; /* over the epoch so far */
    double samples_per_s;             /* over the last second or so */
    double elapsed_s, eta_s;          /* of the whole run; eta NAN while unknown */
    int device_count;
    const struct run_device *devices;
};

struct run_sink {
    /* An event object of the command line's contract ("run", "warning", "step", "epoch",
     * "retune", "shares", "profile", "end"), borrowed. */
    void (*event)(void *context, json_t *event);
    void (*progress)(void *context, const struct run_progress *progress);
    void *context;
};

/*
 * Resolve what the spec left open (model, data, devices, threads, type) and check the whole of it
 * against this machine before anything large is allocated. Cheap enough for `submit`.
 * ERROR_USAGE: the run is impossible as asked.
 */
bool run_resolve(struct spec *spec, struct error *err);

/* The part of it that concerns the devices: their list, their threads, the number type. */
bool run_resolve_devices(struct spec *spec, struct error *err);

/* Where a run keeps its checkpoints, and whether it resumes from the newest whole one there. */
struct run_keep {
    const char *checkpoints; /* a folder for this run alone; NULL: none are written */
    bool resumes;
    const char *warnings[2]; /* what its owner has to know about where it is kept; NULL: nothing */
    long resume_steps; /* of the checkpoint that its owner expects it to resume from; 0: whichever
                          is the newest that is whole */
    /*
     * Have everything reported so far kept where neither a kill nor a power failure can take it.
     * Called on the thread that writes checkpoints, before one becomes visible, so that none is
     * ahead of the run's history. Returns within a bounded time; false: *err says why that is not
     * so, and the checkpoint is written all the same. NULL: nothing is kept.
     */
    bool (*sync)(void *context, struct error *err);
    void *sync_context;
};

/*
 * Train. `run_number` goes into the events. Always ends with an "end" event: status "done",
 * "stopped" or "failed". Returns false with *err for "failed" (ERROR_CANCELLED for "stopped").
 */
bool run_train(const struct spec *spec, long run_number, const struct run_keep *keep,
               struct run_control *control, const struct run_sink *sink, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/train/hosts/link.h"
#include "engine/train/profile/confusion.h"
#include "engine/train/run/control.h"
#include "spec/spec.h"

/*
 * One training run from a validated spec to its end, on the calling thread, with one worker thread
 * per device. Everything it reports goes through `struct run_sink`; it knows nothing of sockets.
 */

enum run_phase { PHASE_PREPARE, PHASE_TRAIN, PHASE_EVAL, PHASE_SAVE, PHASE_ENDED };

/* Newest metrics of a device in a run. */
struct run_device {
    struct device_id id;
    const char *state;                /* "prepare", "train", "eval", "wait", "idle", "failed" */
    long rows;                        /* of the current shard */
    double samples_per_s;             /* while it computed, over the last second or so */
    double compute_s, sync_s, wait_s; /* this epoch: computing; reducing; waiting for others/data */
    uint64_t memory_bytes;            /* planned for this run */
    struct device_load load;          /* of one that its host names */
};

/* A snapshot for viewers, delivered at most a few times a second and at every change of phase. */
struct run_progress {
    enum run_phase phase;
    long epoch, epochs, step, total_steps; /* step counts over the whole run, from 1 */
    long epoch_step, steps_per_epoch;
    long read, to_read;           /* pictures, while they are read before the first step */
    double lr, run_lr;            /* of the next step; that the schedule takes shares of */
    double train_loss, train_acc; /* over the epoch so far */
    double samples_per_s;         /* over the last second or so */
    double elapsed_s, eta_s;      /* of the whole run; eta NAN while unknown */
    long evaluated, test_rows;    /* rows of the newest evaluation so far, of how many */
    int device_count;
    const struct run_device *devices;
};

struct run_sink {
    /* An event object of the command line's contract ("run", "warning", "step", "epoch",
     * "retune", "shares", "profile", "end"), borrowed. */
    void (*event)(void *context, json_t *event);
    void (*progress)(void *context, const struct run_progress *progress);
    /* What was taken for what, after each evaluation. NULL: nothing is counted. */
    void (*predictions)(void *context, const struct confusion *confusion,
                        const char *const *class_names); /* NULL: they have none */
    /* The energy that the devices use from the one call to the other, in joules; NAN: not known.
     * Both wait for a moment at most. NULL: it is not measured. */
    void (*energy_begin)(void *context);
    double (*energy_end)(void *context);
    void *context;
};

/* Where a run keeps its checkpoints, and whether it resumes from the newest whole one there. */
struct run_keep {
    const char *checkpoints; /* a folder for this run alone; NULL: none are written */
    bool resumes;
    /* The first epoch that counts as speed: before it the run had other devices, or settings by
     * which a step takes another time. 0: all count; else above 1. */
    long measured_from;
    const char *warnings[2]; /* what its owner has to know about where they are kept; or NULL */
    const char *choice;      /* why these devices, where the free ones were asked for; or NULL */
    long resume_steps; /* of the checkpoint that its owner expects it to resume from; 0: whichever
                          is the newest that is whole */
    /*
     * Put everything reported so far on disk, where it survives a kill or a power failure.
     * Called on the thread that writes checkpoints, before one becomes visible, so that none is
     * ahead of the run's history. Returns within a bounded time. False, with *err: it failed,
     * and the checkpoint is written all the same. NULL: nothing is kept.
     */
    bool (*sync)(void *context, struct error *err);
    void *sync_context;
};

/* How long things may take, and what measures it. */
struct run_limits {
    double stall_s; /* a device without a sign of progress for so long hangs; time for the work
                       itself is added */
    double grace_s; /* for the devices to answer once the run is being ended */
    double (*clock)(void); /* what the passes of a device are timed with, on its thread */
};

#define RUN_LIMITS_DEFAULT                                                                         \
    {                                                                                              \
        .stall_s = 600, .grace_s = 30, .clock = clock_seconds                                      \
    }

/*
 * Train. `run_number` goes into the events. Always ends with an "end" event: status "done",
 * "stopped" or "failed". Returns false with *err for "failed" (ERROR_CANCELLED for "stopped").
 */
bool run_train(const struct spec *spec, long run_number, const struct run_keep *keep,
               struct run_control *control, const struct run_sink *sink, struct error *err);

/* The same over hosts: link is to the others, of which all do this; NULL: on this one alone. Only
 * the first one's sink is told of events and progress, and only its folder gets checkpoints. */
bool run_train_over(struct host_link *link, const struct run_limits *limits,
                    const struct spec *spec, long run_number, const struct run_keep *keep,
                    struct run_control *control, const struct run_sink *sink, struct error *err);

/* The same with other limits, for tests of what happens when they are met. */
bool run_train_within(const struct run_limits *limits, const struct spec *spec, long run_number,
                      const struct run_keep *keep, struct run_control *control,
                      const struct run_sink *sink, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
 * The threads of a run, one per device, each doing one task at a time. A device is opened, used and
 * closed by tasks on its own thread. Signals are blocked on all of them.
 */
struct workers;

/* What the threads run. `context` is the owner's; `worker` counts from 0. */
struct worker_tasks {
    void *context;
    /* After each task, on its thread: what it returned, with *err where that is false. */
    void (*conclude)(void *context, int worker, bool ok, struct error *err);
    /* After the last task, when no thread is inside a task any more: give back what the worker
     * holds (called even when no task ran). */
    void (*close)(void *context, int worker);
    /* Only after workers_dismiss returned false: every worker has closed, free the context. */
    void (*abandoned)(void *context);
    /* Seconds that a thread spins for its next task before it sleeps. 0 where threads share
     * cores. */
    double spin_s;
    int first; /* what the first worker's number is to tasks */
};

typedef bool (*worker_task)(void *context, int worker, struct error *err);

/* `names[i]` (at most 15 bytes of it are seen) name the threads for the system's tools. */
bool workers_start(int count, const char *const *names, const struct worker_tasks *tasks,
                   struct workers **out, struct error *err);

/* Start `task` on every thread. All must have finished the one before (workers_wait). */
void workers_post(struct workers *workers, worker_task task);

/* Wait at most `seconds` until every thread has finished; false: some have not. */
bool workers_wait(struct workers *workers, double seconds);

/* Has this worker finished the posted task? Any time. */
bool workers_finished(struct workers *workers, int worker);

/*
 * End the threads: each calls tasks.close on its way out, for which there are `close_s` seconds.
 * True: all have ended, and `workers` is gone. A thread that hangs inside a task or in closing
 * cannot be ended: then this returns false, and all that the threads hold, the context included,
 * must stay as it is until the hanging one comes back, if ever; the last thread then calls
 * tasks.abandoned.
 */
bool workers_dismiss(struct workers *workers, double close_s);

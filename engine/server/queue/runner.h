/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/queue/queue.h"

/* The thread that trains, which is the queue's begin and end. */

/* `history` outlives the queue; `past` (runs taken over) are those of earlier engines. */
bool queue_start(struct queue *queue, const char *version, const char *checkpoints,
                 struct engine_log *log, struct history *history, const struct stored_runs *past,
                 void (*changed)(void *context), void *context, struct error *err);
/*
 * Take waiting runs out, tell the running one to stop, and let the runner leave when it has. May be
 * called again to be more urgent.
 */
void queue_leave(struct queue *queue, enum run_stop how);
bool queue_has_left(struct queue *queue);
/* Release everything; only after queue_has_left. False: a thread hangs in a driver. */
bool queue_free(struct queue *queue);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/queue/queue.h"

/* What runs say: kept for those who follow, and handed to the history writer. */

/* With the lock held: hand the run as it is now to the history writer, with its spec. */
void queue_keep(struct queue *queue, const struct record *record);

/* The following with the lock held. */

/* Keep an event object and take its figures. True: it is news for others than those who follow the
 * steps. */
bool queue_keep_event(struct queue *queue, struct record *record, json_t *event);

/* A run that ended without an "end" event of its own gets one. */
void queue_keep_end(struct queue *queue, struct record *record, const char *status,
                    const char *error);

/* Those who follow a run or watch all of them learn that it has ended; the store does not. */
void queue_tell_end(struct queue *queue, struct record *record, const char *status);

/* Events of a run that a crash has ended lack their "end": add it, for those who follow. False:
 * memory ran out. */
bool queue_add_lost_end(struct record *record);

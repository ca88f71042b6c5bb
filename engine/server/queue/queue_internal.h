/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_QUEUE_QUEUE_INTERNAL_H
#define DPARTUI_ENGINE_SERVER_QUEUE_QUEUE_INTERNAL_H

#include "engine/server/queue/queue.h"

/*
 * What the files of the queue share: queue.c (the list), queue/events.c (what runs say),
 * queue/resume.c (runs that are resumed) and queue/runner.c (the thread that trains). With the lock
 * held.
 */

bool queue_has_ended(const struct record *record);

/* Take a pointer out of an array of them. */
void queue_take_out(struct record **list, size_t *count, const struct record *record);

/* Room for so many more records. */
bool queue_make_room(struct queue *queue, size_t more, struct error *err);

/* The run whose turn is next, or NULL. */
struct record *queue_first_waiting(const struct queue *queue);

/* Bound what ended runs take, oldest first. */
void queue_trim(struct queue *queue);

/* Keep an event object and take its figures. True: it is news for others than those who follow the
 * steps. */
bool queue_keep_event(struct queue *queue, struct record *record, json_t *event);

/* A run that ended without an "end" event of its own gets one. */
void queue_keep_end(struct queue *queue, struct record *record, const char *status,
                    const char *error);

/* Folder of one run's checkpoints, for the caller to free. NULL: there is none, or no memory: the
 * run then works without. Without the lock, too. */
char *queue_checkpoint_folder(const struct queue *queue, long number);

#endif

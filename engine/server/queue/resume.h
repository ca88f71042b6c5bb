/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/queue/queue.h"

/* Runs that are resumed from their checkpoints, and those of earlier engines. */

/*
 * Resume a run that has ended from its newest checkpoint, or from its beginning when it ended
 * before the first one, after those that wait, with a resolved spec (taken over) in place of its
 * own, whose learning rate is, with same_lr, that of the checkpoint. *result becomes what `submit`
 * answers. ERROR_ABSENT: there is no such run.
 */
bool queue_resume(struct queue *queue, long number, bool same_lr, struct spec *spec,
                  json_t **result, struct error *err);

/* With the lock held: the turn of a run has come that may have waited to resume. */
void queue_begin_resume(struct queue *queue, struct record *record);

/* With the lock held: a run that waits to resume is what it was before. Those who follow it learn
 * that it was stopped. */
void queue_undo_resume(struct queue *queue, struct record *record);

/*
 * Continue a run that has lost a host (`why`), as restart `number` of those it may have, from its
 * newest checkpoint, or from its beginning, without having ended for those who follow it. *steps:
 * of the checkpoint; -1: there is none.
 */
bool queue_restart(struct queue *queue, struct record *record, const struct error *why, long number,
                   long *steps, struct error *err);

/*
 * With the lock held, which is released while the store is read: have the events and points of an
 * ended run in memory again. False: they cannot be read, or the record is gone.
 */
bool queue_load(struct queue *queue, struct record *record, struct error *err);

/*
 * With the lock held: the newest checkpoint of a run, {"steps":590,"time":T} (seconds since 1970);
 * null: it has none. NULL: memory ran out.
 */
json_t *queue_checkpoint_json(struct queue *queue, const struct record *record);

/* Folder of one run's checkpoints, for the caller to free. NULL: there is none, or no memory: the
 * run then works without. Without the lock, too. */
char *queue_checkpoint_folder(const struct queue *queue, long number);

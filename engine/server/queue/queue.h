/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/log/log.h"
#include "engine/server/history/writer.h"
#include "engine/server/queue/notifier.h"
#include "engine/server/record/record.h"

/*
 * The runs of this engine: those that wait, the one that trains (on the queue's own thread), and
 * those that have ended, of this and of earlier engines. All that happens to a run is also handed
 * to the history writer, which has it in the store a moment later. The training side only takes the
 * lock for as long as it takes to copy an event; it never waits for a viewer.
 */
#define QUEUE_WAITING_LIMIT 1000

struct nvml;

struct queue {
    pthread_mutex_t lock;
    /* All below is guarded by `lock`. */
    struct record **records; /* ascending numbers */
    size_t count, capacity;
    long older; /* runs that only the store has */
    long last_number;
    long *deleted; /* runs that the store may still have for a moment, until it is replaced */
    size_t deleted_count;
    struct record *waiting[QUEUE_WAITING_LIMIT]; /* in their order */
    size_t waiting_count;
    struct record *current;    /* the one that trains or is being cleared away */
    struct event_buffer marks; /* events of all runs but the steps, for those who watch */
    uint64_t version;          /* grows with every change a state shows */
    uint64_t changes;          /* grows with those that are not mere progress */
    uint64_t edits;     /* grows with changes to the list of runs, also where no event tells */
    bool leaving, idle; /* idle: the runner has left */
    /* Not guarded: */
    pthread_cond_t wake;
    pthread_cond_t cleared; /* `current` has been cleared away */
    pthread_t runner;
    struct engine_log *log;
    struct history *history;        /* NULL: runs end with the engine */
    char notice[HISTORY_NOTICE];    /* of stored_runs; by the runner alone */
    struct nvml *nvml;              /* tells which GPUs are free; set before, too */
    struct notifier *notifier;      /* likewise; outlives the queue */
    const char *places_note;        /* of server_options; set before runs are submitted */
    const char *checkpoints;        /* folder of all runs' checkpoints; NULL: none are written */
    bool held;                      /* a thread hangs in a driver; the runner's */
    const char *program_version;    /* for the record of a run */
    atomic_int followers;           /* readers of step events; with none a step wakes nobody */
    void (*changed)(void *context); /* called on the runner's thread, without the lock */
    void *context;
};

/* Append a resolved spec (taken over) with the user's note or ""; its number in *number. */
bool queue_add(struct queue *queue, struct spec *spec, const char *note, long *number,
               struct error *err);

/* Is a run training or waiting? */
bool queue_is_busy(struct queue *queue);

/* With the lock held: the run that trains, until its "end" event, or NULL. */
struct record *queue_running(const struct queue *queue);

/* With the lock held: the record with this number, or NULL. */
struct record *queue_find(const struct queue *queue, long number);

/*
 * With the lock held: the same, also of one that only the store has any more, until there are many
 * of these. NULL with ERROR_ABSENT: there is no such run; else it cannot be read.
 */
struct record *queue_recall(struct queue *queue, long number, struct error *err);

/* With the lock held: stop a waiting or running run; no effect on one that has ended. */
void queue_stop(struct queue *queue, struct record *record, enum run_stop how);

/* With the lock held: make a waiting run number `place` of those, from 0, or the last one. */
void queue_move(struct queue *queue, struct record *record, size_t place);

/* With the lock held: delete a run that has ended. False: it stays as it is. */
bool queue_delete(struct queue *queue, struct record *record, struct error *err);

/* With the lock held: something about a run changed from outside (paused, learning rate). */
void queue_touch(struct queue *queue);

/* For the other files of this folder, with the lock held: */

/*
 * The list of runs changed: a note, a deletion, a run read again, also what an event tells.
 * Viewers hear of it with the next state that is due, so many of these do not make as many states.
 */
void queue_edited(struct queue *queue);

bool queue_has_ended(const struct record *record);

/* Take a pointer out of an array of them. */
void queue_take_out(struct record **list, size_t *count, const struct record *record);

/* Room for this many more records. */
bool queue_make_room(struct queue *queue, size_t more, struct error *err);

/* The run whose turn is next, or NULL. */
struct record *queue_first_waiting(const struct queue *queue);

/* Bound what ended runs take, oldest first. */
void queue_trim(struct queue *queue);

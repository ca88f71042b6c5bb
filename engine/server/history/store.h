/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "engine/server/history/backlog.h"
#include "engine/server/history/inspection.h"
#include "engine/server/history/writer.h"

/*
 * The run store as the history writer has it: open for writing and for reading, and opened again
 * when its file is removed or replaced.
 *
 * Locks are taken in this order: `owning`, the queue's, `reading`, those inside SQLite. The
 * writer's own and that of the inspection come last: nothing else is taken with them. Whoever has
 * `reading` makes no call on the writer's connection, which may wait for the disk.
 */
struct history_store {
    struct engine_log *log;
    struct store *writer; /* of the history writer's thread */
    struct store *reader; /* opened when first needed */
    /* Guards the reader, and which store is the writer. */
    pthread_mutex_t reading;
    struct history_owner owner;
    pthread_mutex_t owning; /* guards `owner`, and is held while its functions are called */
    bool replaced;          /* has been reported, and there is no store in its place yet */
    long ends, runs;        /* of the backlog that waits, those whose states are written */
    bool reserved;          /* room on the disk (src/store/rescue/reserve.h) */
    /* Another file has been gone over to, or another engine has had the lock: since then every
     * write looks for runs in it that have numbers of ours. */
    bool renewed;
    bool unsettled; /* runs got new numbers, of which the owner has not been told yet */
    struct history_inspection inspection; /* of the writer's file */
};

/* For a writer that is open. */
void history_store_begin(struct history_store *store, struct store *writer, struct engine_log *log);
/* Also of one that never began. */
void history_store_end(struct history_store *store);

/* On the history writer's thread: begin the inspection of the store if it needs one. */
void history_store_inspect(struct history_store *store);

/*
 * On the history writer's thread, before it writes: make sure that the writer is the store at its
 * path and that the lock there is ours. Otherwise say so and go over to what is there now, with all
 * runs of the store before it. False: there is nothing that can be written into; try again
 * later.
 */
bool history_store_check(struct history_store *store, struct error *err);
/* Write a part of a backlog into it, as backlog_write. */
bool history_store_write(struct history_store *store, const struct backlog *backlog,
                         enum backlog_part part, struct error *err);

/* Sync what was written, and tell the owner of runs that were deleted by it: until then a power
 * failure may bring them back. */
void history_store_tell_deleted(struct history_store *store, const struct backlog *written);

/*
 * How runs stand, of what could not be written as a whole: when a run is new or has ended, so that
 * states in between take no room from the last one, which has what is reserved.
 */
void history_store_write_least(struct history_store *store, const struct backlog *backlog,
                               enum backlog_part part);

/* On any thread: the reader, locked until history_store_release. NULL with *err: it cannot be read;
 * nothing is locked. */
struct store *history_store_read(struct history_store *store, struct error *err);
void history_store_release(struct history_store *store);
/* Likewise one of its own, the caller's to close. */
bool history_store_open_reading(struct history_store *store, struct store **out, struct error *err);

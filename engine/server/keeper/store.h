/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_KEEPER_STORE_H
#define DPARTUI_ENGINE_SERVER_KEEPER_STORE_H

#include <pthread.h>
#include <stdbool.h>

#include "engine/server/keeper/backlog.h"
#include "engine/server/keeper/inspect.h"
#include "engine/server/keeper/keeper.h"

/*
 * The run store as the keeper has it: open for writing and for reading, and opened again when its
 * file is removed or replaced.
 *
 * Locks are taken in this order: `owning`, the queue's, `reading`, those inside SQLite. The
 * keeper's own and that of the inspection come last: nothing else is taken with them. Whoever has
 * `reading` makes no call on the writer's connection, which may wait for the disk.
 */
struct keeper_store {
    struct engine_log *log;
    struct store *writer; /* of the keeper's thread */
    struct store *reader; /* opened when first needed */
    /* Guards the reader, and which store is the writer. */
    pthread_mutex_t reading;
    struct keeper_owner owner;
    pthread_mutex_t owning; /* guards `owner`, and is held while its functions are called */
    bool replaced;          /* has been reported, and there is no store in its place yet */
    long ends, runs;        /* of the backlog that waits, those whose states are written */
    bool reserved;          /* room on the disk (src/store/rescue/reserve.h) */
    /* Another file has been gone over to, or another engine has had the lock: since then every
     * write looks for runs in it that have numbers of ours. */
    bool renewed;
    bool unsettled; /* runs got new numbers, of which the owner has not been told yet */
    struct keeper_inspection inspection; /* of the writer's file */
};

/* For a writer that is open. */
void keeper_store_begin(struct keeper_store *store, struct store *writer, struct engine_log *log);
/* Also of one that never began. */
void keeper_store_end(struct keeper_store *store);

/* On the keeper's thread: begin the inspection of the store if it needs one. */
void keeper_store_inspect(struct keeper_store *store);

/*
 * On the keeper's thread, before it writes: make sure that the writer is the store at its path and
 * that the lock there is ours. Otherwise say so and go over to what is there now, with all
 * runs of the store before it. False: there is nothing that can be written into; try again
 * later.
 */
bool keeper_store_check(struct keeper_store *store, struct error *err);
/* Write a part of a backlog into it, as backlog_write. */
bool keeper_store_write(struct keeper_store *store, const struct backlog *backlog,
                        enum backlog_part part, struct error *err);

/*
 * How runs stand, of what could not be written as a whole: when a run is new or has ended, so that
 * states in between take no room from the last one, which has what is reserved.
 */
void keeper_store_write_least(struct keeper_store *store, const struct backlog *backlog,
                              enum backlog_part part);

/* On any thread: the reader, locked until keeper_store_release. NULL with *err: it cannot be read;
 * nothing is locked. */
struct store *keeper_store_read(struct keeper_store *store, struct error *err);
void keeper_store_release(struct keeper_store *store);
/* Likewise one of its own, the caller's to close. */
bool keeper_store_open_reading(struct keeper_store *store, struct store **out, struct error *err);

#endif

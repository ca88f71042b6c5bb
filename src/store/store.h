/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The run store: every run with all that defines it and all that it gave, in one SQLite file,
 * $XDG_DATA_HOME/dpartui/runs.db. The engine writes it; commands read it directly, and write
 * only to bring it up to date or to repair it, while no engine has it. With write-ahead logging a
 * killed process loses nothing that was committed, and readers never wait.
 *
 * What is searched and sorted by lies in columns; the rest is kept as the JSON of docs/protocol.md,
 * so that a stored run is shown exactly as a living one. A store is used by one thread at a time.
 */
struct store;

/* Raised with every change of the tables; store_open brings older files up to date. */
#define STORE_VERSION 2

/*
 * Open for writing; made when missing, with its folder. Only one process may have a store open so:
 * ERROR_FAILED names the process that has it. A file that is damaged or no store is set aside under
 * another name, never overwritten, and a new one begun: then `notice` (of notice_size bytes) says
 * so, as of a file of 0 bytes; else it is "". A store of a newer version is refused and left alone.
 */
bool store_open(const char *path, struct store **out, char *notice, size_t notice_size,
                struct error *err);

struct store_progress;
/* As store_open, and show the progress (update.h). */
bool store_open_showing(const char *path, const struct store_progress *progress, struct store **out,
                        char *notice, size_t notice_size, struct error *err);

/*
 * Open for reading, also while an engine writes. A store of an older version is brought up to date
 * first, which takes some seconds for 100,000 runs, unless an engine of that version still has it:
 * ERROR_FAILED. ERROR_ABSENT: there is no store (yet).
 */
bool store_open_reading(const char *path, struct store **out, struct error *err);

/* The same without a change: *version, up to STORE_VERSION, says which tables it has. */
bool store_open_as_is(const char *path, struct store **out, int *version, struct error *err);

/* Does a process have it open for writing? */
bool store_has_writer(const struct store *store);

/* What is said of runs whose engine is gone. */
#define STORE_LOST "the engine crashed or was killed, or the machine went down"
/* The same of a run that waited for its turn. */
#define STORE_LOST_WAITING "the engine was killed, or the machine went down, before the run began"

void store_close(struct store *store);

/* Where it is, without the links that lead there. */
const char *store_path(const struct store *store);

/*
 * Several changes as one: all of them are kept or none. Without it each is a transaction of its
 * own. After a failure everything since store_begin is gone: store_begin again.
 */
bool store_begin(struct store *store, struct error *err);
bool store_commit(struct store *store, struct error *err);
void store_rollback(struct store *store);

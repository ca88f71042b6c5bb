/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_STORE_STORE_H
#define DPARTUI_STORE_STORE_H

#include <jansson.h>
#include <math.h>
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

/* Commits survive the end of the process; after this those so far survive a power failure, too. */
bool store_sync(struct store *store, struct error *err);

/* The highest number that any run ever had; 0: none. Numbers of deleted runs are not given again.
 */
bool store_last_number(struct store *store, long *number, struct error *err);

/*
 * Keep a run, or its newer state: `object` is the run object of docs/protocol.md, `spec` what
 * defines it and `environment` on what it ran (host, versions, devices); NULL leaves what was kept
 * before.
 */
bool store_put_run(struct store *store, const json_t *object, const json_t *spec,
                   const json_t *environment, struct error *err);

/*
 * Add an event that is no step and no point, as its JSON text; `name` is its "event" member. What
 * comes for a run that is not there (deleted meanwhile) is left out, also points and tags.
 */
bool store_add_event(struct store *store, long run, const char *name, const char *text,
                     struct error *err);

/* Delete the events and points of a run after so many steps, and its "end" event; of -1 steps: all
 * of them, "run" and warnings included. */
bool store_rewind(struct store *store, long run, long steps, struct error *err);

/* Add a "point" event, or replace all points of a run by those of `list`. */
bool store_add_point(struct store *store, long run, const json_t *point, struct error *err);
bool store_set_points(struct store *store, long run, const json_t *list, struct error *err);

/* Words to find runs by; `tags` is an array of strings. */
bool store_set_tags(struct store *store, long run, const json_t *tags, struct error *err);

/* ERROR_ABSENT: there is no such run. */
bool store_delete_run(struct store *store, long run, struct error *err);

/*
 * Runs that are queued, running or paused though no engine works on them become "interrupted", with
 * `reason`, or STORE_LOST_WAITING when they had never begun; *runs (may be NULL) becomes an array
 * of their numbers.
 */
bool store_interrupt(struct store *store, const char *reason, json_t **runs, struct error *err);

/* Which runs to list; NULL or NAN: whatever. Text is compared without regard to case (of ASCII). */
struct store_filter {
    const char *model, *data, *devices, *status, *tag; /* the whole value; devices as "cpu:0-1" */
    const char *words;     /* each word occurs in model, data, devices, status, note or a tag */
    double since, until;   /* submitted, seconds since 1970 */
    const char *sort;      /* a member of run objects such as "test_acc", or "devices" for their
                              number; NULL: by number */
    bool descending;       /* with `sort` */
    long limit;            /* the first so many with `sort`, else the newest; 0: all */
    const json_t *without; /* numbers of runs to leave out; borrowed */
    bool interrupted;      /* unfinished runs count as interrupted: nobody trains them */
};

#define STORE_FILTER_INIT                                                                          \
    {                                                                                              \
        .since = NAN, .until = NAN                                                                 \
    }

/* Does it leave any run out, but for `limit` and `without`? */
bool store_filter_has_conditions(const struct store_filter *filter);

/*
 * Run objects, each with its "tags" and, if asked for, its "spec": oldest first, or by
 * filter->sort, equal ones oldest first and those of which it is not known after all others. Takes
 * time in proportion to what is returned; conditions and keys are looked up in an index.
 */
bool store_list(struct store *store, const struct store_filter *filter, bool with_spec,
                json_t **runs, struct error *err);

/* Is there a run of that number? */
bool store_has_run(struct store *store, long run, bool *has, struct error *err);

/* Is there any run? */
bool store_has_runs(struct store *store, bool *any, struct error *err);

/*
 * A run object with "spec", "environment", "device_figures", "profile" (the newest, if there is
 * one) and "tags": all but its rows (rows.h), so that it takes little memory however long the run
 * was. ERROR_ABSENT: there is no such run.
 */
bool store_head(struct store *store, long run, json_t **object, struct error *err);

/* The kept events of one name, or all (NULL), oldest first; an empty array for an unknown run. */
bool store_events(struct store *store, long run, const char *name, json_t **events,
                  struct error *err);

/* The "point" events, by their steps. */
bool store_points(struct store *store, long run, json_t **points, struct error *err);

#endif

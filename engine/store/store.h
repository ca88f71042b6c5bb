/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_STORE_STORE_H
#define DPARTUI_ENGINE_STORE_STORE_H

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The run store: every run with all that defines it and all that it gave, in one SQLite file,
 * $XDG_DATA_HOME/dpartui/runs.db. The engine alone writes it; commands read it directly. With
 * write-ahead logging a killed process loses nothing that was committed, and readers never wait.
 *
 * What is searched and sorted by lies in columns; the rest is kept as the JSON of docs/protocol.md,
 * so that a stored run is shown exactly as a living one. A store is used by one thread at a time.
 */
struct store;

/* Raised with every change of the tables; store_open brings older files up to date. */
#define STORE_VERSION 1

/* $XDG_DATA_HOME/dpartui/runs.db; a new string the caller frees. */
char *store_default_path(struct error *err);

/*
 * Open for writing; made when missing, with its folder. Only one process may have a store open so:
 * ERROR_FAILED names the process that has it. A file that is damaged or no store is set aside under
 * another name, never overwritten, and a new one begun: then `notice` (of notice_size bytes) says
 * so, else it is "". A store of a newer version is refused and left alone.
 */
bool store_open(const char *path, struct store **out, char *notice, size_t notice_size,
                struct error *err);

/* Open for reading, also while an engine writes. ERROR_ABSENT: there is no store (yet). */
bool store_open_reading(const char *path, struct store **out, struct error *err);

/* Does a process have it open for writing? */
bool store_has_writer(const struct store *store);

/* What is said of runs whose engine is gone. */
#define STORE_LOST "the engine ended without a word: it was killed, or the machine went down"

void store_close(struct store *store);

/*
 * Several changes as one: all of them are kept or none. Without it each is a transaction of its
 * own. After a failure everything since store_begin is gone: store_begin again.
 */
bool store_begin(struct store *store, struct error *err);
bool store_commit(struct store *store, struct error *err);
void store_rollback(struct store *store);

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

/* Replace all of a run's events by those of an array of objects. */
bool store_set_events(struct store *store, long run, const json_t *events, struct error *err);

/* Add a "point" event, or replace all points of a run by those of `list`. */
bool store_add_point(struct store *store, long run, const json_t *point, struct error *err);
bool store_set_points(struct store *store, long run, const json_t *list, struct error *err);

/* Words to find runs by; `tags` is an array of strings. */
bool store_set_tags(struct store *store, long run, const json_t *tags, struct error *err);

/* ERROR_ABSENT: there is no such run. */
bool store_delete_run(struct store *store, long run, struct error *err);

/*
 * Runs that are queued, running or paused though no engine works on them become "interrupted", with
 * `reason`; *runs (may be NULL) becomes an array of their numbers.
 */
bool store_interrupt(struct store *store, const char *reason, json_t **runs, struct error *err);

/* Which runs to list; NULL or NAN: whatever. Text is compared without regard to case. */
struct store_filter {
    const char *model, *data, *devices, *status, *tag; /* the whole value; devices as "cpu:0-1" */
    const char *words;   /* each word occurs in model, data, devices, status, note or a tag */
    double since, until; /* submitted, seconds since 1970 */
    long limit;          /* the newest so many; 0: all */
};

#define STORE_FILTER_INIT                                                                          \
    {                                                                                              \
        .since = NAN, .until = NAN                                                                 \
    }

/* Run objects, oldest first, each with its "tags" and, if asked for, its "spec". */
bool store_list(struct store *store, const struct store_filter *filter, bool with_spec,
                json_t **runs, struct error *err);

/*
 * A run object with "spec", "environment", "epochs", "device_figures", "points", "retunes",
 * "profile" (the newest, if there is one), "events" (all others but the run's first, its last and
 * the epochs) and "tags", as `show` answers.
 * ERROR_ABSENT: there is no such run.
 */
bool store_show(struct store *store, long run, json_t **object, struct error *err);

/* The kept events of one name, or all (NULL), oldest first; an empty array for an unknown run. */
bool store_events(struct store *store, long run, const char *name, json_t **events,
                  struct error *err);

/* The "point" events, by their steps. */
bool store_points(struct store *store, long run, json_t **points, struct error *err);

#endif

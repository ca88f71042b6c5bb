/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "store/store.h"

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

/* Delete the events and points of a run after this many steps, and its "end" event; of -1 steps:
 * all of them, "run" and warnings included. */
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

/*
 * Changes that belong together, inside the caller's transaction or one of their own.
 * Parts nest. To end one that is not `ok` takes its changes back, and is false.
 */
bool store_part_begin(struct store *store, struct error *err);
bool store_part_end(struct store *store, bool ok, struct error *err);

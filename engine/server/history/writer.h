/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/log/log.h"

/*
 * Writes runs into the store on its own thread, so that neither training nor viewers wait for
 * a disk. What has to be kept is handed over in order and written in transactions a moment later; a
 * disk that is full or fails is tried again until it takes them. All functions but history_start
 * take NULL for "nothing is kept". Those that hand over may be called on any thread, with any lock.
 */
struct history;

/* Bytes of a text about the store that owners of runs have to know. */
#define HISTORY_NOTICE 640

/* What a store held when the engine began. */
struct stored_runs {
    long last_number;    /* the highest that any run ever had */
    json_t *runs;        /* the newest run objects, oldest first; each also has its "spec" */
    long older;          /* how many others there are */
    json_t *interrupted; /* numbers of those that a crash has left just now, rising; NULL: none */
    /* What owners of runs have to know: that their runs are not kept, or, once, that an earlier
     * store was set aside. Empty: nothing. */
    char notice[HISTORY_NOTICE];
    /* What is wrong with the store, for viewers, as long as the engine lives. Empty: nothing. */
    char trouble[HISTORY_NOTICE];
};

/*
 * Open the store at `path`, mark what a crash left as interrupted, and begin. On failure the engine
 * continues without: *out is NULL, and the log says why and that runs are lost when the engine
 * ends.
 */
void history_start(const char *path, struct engine_log *log, struct history **out,
                   struct stored_runs *past);
/* Likewise where there is not even a place for a store: say why nothing is kept. */
void history_refuse(const char *reason, struct engine_log *log, struct stored_runs *past);

/* Run objects that the engine keeps in memory; older ones are in the store. */
enum { STORED_RUNS_MOST = 1000 };

/*
 * Whose runs are kept. When the store is removed or replaced by another file (a backup) while it is
 * open, the history writer goes over to what is at the path then. It calls these on its thread,
 * with none of its locks held but the one that history_set_owner takes.
 */
struct history_owner {
    /* Give no number up to `last` to a new run; returns the highest number that was given. The
     * store may have runs again that were deleted: it is, or is about to be, another file. */
    long (*raise_number)(void *context, long last);
    /* Say so to whom the running run belongs. */
    void (*warn)(void *context, const char *text);
    /* A run that was handed over by history_delete is not in the store any more, and nothing
     * brings it back, also no power failure. */
    void (*deleted)(void *context, long run);
    void *context;
};
/* NULL: none any more; after that none of the functions is called. */
void history_set_owner(struct history *history, const struct history_owner *owner);

/* Write all that was handed over, as far as the disk takes it, and close. */
void history_stop(struct history *history);

/*
 * For an engine that leaves threads behind, which may still hand something over: write what was
 * handed over, as far as that takes no more than `seconds`. What comes later is not written.
 */
void history_finish(struct history *history, double seconds);

/* Put into `notice` (HISTORY_NOTICE bytes) what was found out about the store since the last call;
 * else it stays as it is. Any thread. */
void history_take_notice(struct history *history, char *notice);

/*
 * What one thread hands over between these is written in one transaction: an event and how the run
 * stands after it. Not for long. NULL: nothing is kept.
 */
void history_begin(struct history *history);
void history_end(struct history *history);

/* These steal their JSON values, which may be NULL: memory ran out for them, or as they were. */
void history_put_run(struct history *history, json_t *object, json_t *spec, json_t *environment);
void history_add_point(struct history *history, long run, json_t *point);
void history_set_points(struct history *history, long run, json_t *points);
void history_set_tags(struct history *history, long run, json_t *tags);
void history_delete(struct history *history, long run);
/* `name` is the event's, of static storage; `text` its JSON, copied. */
void history_add_event(struct history *history, long run, const char *name, const char *text);
/* An "epoch" event; `score`, its member_score (NAN: not known), finds the best. */
void history_add_epoch(struct history *history, long run, long epoch, double score,
                       const char *text);
/* Delete the events and points of a run after this many steps, and its "end" event; of -1 steps:
 * all of them, "run" and warnings included. */
void history_rewind(struct history *history, long run, long steps);

/*
 * Wait until everything handed over so far is committed and synced, so that not even a power
 * failure takes it; `seconds` at most. False, and at once until that is over: the store fails or
 * hangs.
 */
bool history_sync(struct history *history, double seconds, struct error *err);

/*
 * A run that was kept earlier, as store_head has it; its events, thinned to about `most`
 * (thinning.h), and its points, as arrays. ERROR_ABSENT: there is no such run.
 */
bool history_show(struct history *history, long run, json_t **object, struct error *err);
bool history_read(struct history *history, long run, long most, json_t **events, json_t **points,
                  struct error *err);

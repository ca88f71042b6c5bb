/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_KEEPER_KEEPER_H
#define DPARTUI_ENGINE_SERVER_KEEPER_KEEPER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/log/log.h"

/*
 * Writes runs into the store on a thread of its own, so that neither training nor viewers wait for
 * a disk. What is to be kept is handed over in order and written in transactions a moment later; a
 * disk that is full or fails is tried again until it takes them. All functions but keeper_start
 * take NULL for "nothing is kept". Those that hand over may be called on any thread, with any lock.
 */
struct keeper;

/* Bytes of a text about the store that owners of runs have to know. */
#define KEEPER_NOTICE 640

/* What a store held when the engine began. */
struct keeper_past {
    long last_number; /* the highest that any run ever had */
    json_t *runs;     /* the newest run objects, oldest first; each also has its "spec" */
    /* What owners of runs have to know: that their runs are not kept, or, once, that an earlier
     * store was set aside. Empty: nothing. */
    char notice[KEEPER_NOTICE];
};

/*
 * Open the store at `path`, mark what a crash left as interrupted, and begin. On failure the engine
 * goes on without: *out is NULL, and the log says why and that runs are lost with the engine.
 */
void keeper_start(const char *path, struct engine_log *log, struct keeper **out,
                  struct keeper_past *past);
/* Likewise where there is not even a place for a store: say why nothing is kept. */
void keeper_refuse(const char *reason, struct engine_log *log, struct keeper_past *past);

/* Run objects that the engine has at hand; older ones are in the store. */
enum { KEEPER_PAST_RUNS = 1000 };

/*
 * Whose runs are kept. When the store is removed or replaced by another file (a backup) while it is
 * open, the keeper goes over to what is at the path then. It calls these on its thread, with none
 * of its locks held but the one that keeper_set_owner takes.
 */
struct keeper_owner {
    /* Give no number up to `last` to a new run; returns the highest number that was given. The
     * store may have runs again that were deleted: it is, or is about to be, another file. */
    long (*raise_number)(void *context, long last);
    /* Say so to whom the running run belongs. */
    void (*warn)(void *context, const char *text);
    void *context;
};
/* NULL: nobody any more; after that none of the functions is called. */
void keeper_set_owner(struct keeper *keeper, const struct keeper_owner *owner);

/* Write all that was handed over, as far as the disk takes it, and close. */
void keeper_stop(struct keeper *keeper);

/*
 * For an engine that leaves threads behind, which may still hand something over: write what was
 * handed over, as far as that takes no more than `seconds`. What comes later is not written.
 */
void keeper_finish(struct keeper *keeper, double seconds);

/* Put into `notice` (KEEPER_NOTICE bytes) what was found out about the store since the last call;
 * else it stays as it is. Any thread. */
void keeper_take_notice(struct keeper *keeper, char *notice);

/*
 * What one thread hands over between these is written in one transaction: an event and how the run
 * stands after it. Not for long. NULL: nothing is kept.
 */
void keeper_begin(struct keeper *keeper);
void keeper_end(struct keeper *keeper);

/* These steal their JSON values, which may be NULL: memory ran out for them, or as they were. */
void keeper_put_run(struct keeper *keeper, json_t *object, json_t *spec, json_t *environment);
void keeper_add_point(struct keeper *keeper, long run, json_t *point);
void keeper_set_points(struct keeper *keeper, long run, json_t *points);
void keeper_set_tags(struct keeper *keeper, long run, json_t *tags);
void keeper_delete(struct keeper *keeper, long run);
/* `name` is the event's, of static storage; `text` its JSON, copied. */
void keeper_add_event(struct keeper *keeper, long run, const char *name, const char *text);
/* An "epoch" event; `score`, its test accuracy (NAN: not known), finds the best. */
void keeper_add_epoch(struct keeper *keeper, long run, long epoch, double score, const char *text);
/* Delete the events and points of a run after so many steps, and its "end" event; of -1 steps: all
 * of them, "run" and warnings included. */
void keeper_rewind(struct keeper *keeper, long run, long steps);

/*
 * Wait until everything handed over so far is committed and synced, so that not even a power
 * failure takes it; `seconds` at most. False, and at once until that is over: the store fails or
 * hangs.
 */
bool keeper_sync(struct keeper *keeper, double seconds, struct error *err);

/*
 * A run that was kept earlier, as store_head has it; its events, thinned to about `most`
 * (thinning.h), and its points, as arrays. ERROR_ABSENT: there is no such run.
 */
bool keeper_show(struct keeper *keeper, long run, json_t **object, struct error *err);
bool keeper_read(struct keeper *keeper, long run, long most, json_t **events, json_t **points,
                 struct error *err);

#endif

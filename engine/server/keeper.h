/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_KEEPER_H
#define DPARTUI_ENGINE_SERVER_KEEPER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/server/log.h"

/*
 * Writes runs into the store on a thread of its own, so that neither training nor viewers wait for
 * a disk. What is to be kept is handed over in order and written in transactions a moment later; a
 * disk that is full or fails is tried again until it takes them. All functions but keeper_start
 * take NULL for "nothing is kept". Those that hand over may be called on any thread, with any lock.
 */
struct keeper;

/* What a store held when the engine began. */
struct keeper_past {
    long last_number; /* the highest that any run ever had */
    json_t *runs;     /* the newest run objects, oldest first; each also has its "spec" */
    /* What owners of runs have to know: that their runs are not kept, or, once, that an earlier
     * store was set aside. Empty: nothing. */
    char notice[640];
};

/*
 * Open the store at `path`, mark what a crash left as interrupted, and begin. On failure the engine
 * goes on without: *out is NULL, and the log says why and that runs are lost with the engine.
 */
void keeper_start(const char *path, struct engine_log *log, struct keeper **out,
                  struct keeper_past *past);
/* Write all that was handed over, as far as the disk takes it, and close. */
void keeper_stop(struct keeper *keeper);

/*
 * For an engine that leaves threads behind, which may still hand something over: write what was
 * handed over, as far as that takes no more than `seconds`. What comes later is not written.
 */
void keeper_finish(struct keeper *keeper, double seconds);

/* These steal their JSON values, which may be NULL: memory ran out for them, or as they were. */
void keeper_put_run(struct keeper *keeper, json_t *object, json_t *spec, json_t *environment);
void keeper_add_point(struct keeper *keeper, long run, json_t *point);
void keeper_set_events(struct keeper *keeper, long run, json_t *events);
void keeper_set_points(struct keeper *keeper, long run, json_t *points);
void keeper_set_tags(struct keeper *keeper, long run, json_t *tags);
void keeper_delete(struct keeper *keeper, long run);
/* `name` is the event's, of static storage; `text` its JSON, copied. */
void keeper_add_event(struct keeper *keeper, long run, const char *name, const char *text);

/*
 * A run that was kept earlier, as store_show has it; all its events and points, as arrays. By one
 * thread at a time. ERROR_ABSENT: there is no such run.
 */
bool keeper_show(struct keeper *keeper, long run, json_t **object, struct error *err);
bool keeper_read(struct keeper *keeper, long run, json_t **events, json_t **points,
                 struct error *err);

#endif

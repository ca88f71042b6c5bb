/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/server/record/curve.h"
#include "engine/server/record/event_buffer.h"
#include "engine/server/record/warnings.h"
#include "engine/train/run/run.h"
#include "events/status.h"
#include "spec/spec.h"

/* Events of a run that are kept in addition to its steps; epochs are thinned where there are more.
 */
#define RECORD_MARKS 10000

#define NOTE_BYTES 400

struct checkpoint_place;

/*
 * One submitted run: what was asked, how it stands, its kept events and the figures taken from
 * them. Guarded by the queue's lock, except `control`, which is atomic.
 */
struct record {
    long number;
    enum run_status status;    /* not RUN_PAUSED: record_status_name() knows */
    struct spec spec;          /* resolved; from its begin on only a restart changes it */
    double lr;                 /* that the schedule takes shares of, as live changes have it */
    unsigned long likeness;    /* of it, as spec/likeness.h has it */
    char note[NOTE_BYTES + 1]; /* the user's own words; "": none */
    json_t *tags;              /* strings, sorted */
    struct warnings warnings;  /* what its preflight check found, and later ones */
    json_t *environment;       /* where it began; NULL: not yet, or only the store has it */
    bool resumes;              /* from the checkpoint of ... */
    long resume_steps;         /* ... this many steps ... */
    long resume_epochs;        /* ... in so many epochs, the last of which may be in part */
    struct record *before; /* what it was, while it waits to resume, see record_keep(); or NULL */
    long measured_from;    /* the first epoch whose speed counts, see struct run_keep */
    bool away;             /* its events and points are in the store only */
    int readers;           /* that are reading them now */
    struct run_control control;
    struct event_buffer events;
    struct curve curve;
    double submitted_at, started_at, ended_at; /* seconds since 1970; NAN: not yet */
    bool ended;                                /* its "end" event is in the log */
    bool deleted; /* not in the queue any more; goes when its run has been cleared away */
    /* From the events; NAN or 0 while unknown. */
    char *model, *data; /* as the "run" event calls them; NULL before it */
    long params, epochs, epochs_done, retunes;
    double val_acc, best_val_acc; /* NAN: it has no validation rows */
    double train_acc, test_acc, best_test_acc, s_per_epoch, samples_per_s;
    double energy_j, samples_per_j; /* of whole epochs without the first, as the speeds */
    /* Of those epochs whose energy is known. */
    struct {
        long count;
        double joules, rows;
    } energy;
    char error[512];
    char reason[160]; /* why it ended early; "": it did not */
    /* The newest progress, while it runs. `devices` points into `device`. */
    bool has_progress;
    struct run_progress progress;
    struct run_device device[SPEC_MAX_DEVICES];
};

/* Takes over what `spec` owns (and leaves it empty). NULL: memory ran out. */
struct record *record_new(long number, struct spec *spec);
void record_free(struct record *record);

/* A buffer of these events, oldest first. False: memory ran out. */
bool record_read_events(struct event_buffer *buffer, const json_t *events);
/* Takes over what they own. The newest, and new ones, have higher numbers than those before: who
 * follows the run has had these. */
void record_replace_events(struct record *record, struct event_buffer *events);

/*
 * Delete what an ended run did after its checkpoint, whose place says what it had reached, and have
 * it wait again, with its speed from epoch `measured_from` on. NULL: it had none; all is deleted,
 * the "run" event, too. False: memory ran out, and nothing has changed.
 */
bool record_rewind(struct record *record, const struct checkpoint_place *place, long measured_from);

/*
 * Before an ended run is queued to resume: keep what it is, and its spec, which may be replaced
 * from then on. False: memory ran out. record_forget() when it resumes; record_as_kept() is what it
 * was, with its present note, tags and events, and owns nothing; record_return() makes it that
 * again.
 */
bool record_keep(struct record *record);
void record_forget(struct record *record);
struct record record_as_kept(const struct record *record);
void record_return(struct record *record);

/* "queued", "running", "paused", "done", "stopped", "cancelled", "failed" or "interrupted". */
const char *record_status_name(const struct record *record);

/* Is it to stop after the running epoch? */
bool record_stops_after_epoch(const struct record *record);
/* Or as soon as it can? */
bool record_stops(const struct record *record);

/* Bytes that the kept events and the curve take. */
size_t record_bytes(const struct record *record);

/* Take the figures of an event object that is no step; "end" ends the record, too. */
void record_take_event(struct record *record, const json_t *event);
void record_set_progress(struct record *record, const struct run_progress *progress);

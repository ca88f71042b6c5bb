/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/board/board.h"
#include "engine/board/event_log.h"
#include "engine/train/run/run.h"
#include "engine/train/split/balance.h"
#include "engine/train/step/ranks.h"

struct run;

/* The preflight check finds at most as many that are worth keeping. */
enum { RUN_WARNINGS = 32 };

/* Where the events of a run go. */
struct report {
    long number; /* of the run */
    const struct run_sink *sink;
    struct event_log log;
    struct board *board; /* NULL: no TensorBoard */
    int warning_count;   /* for the run's owner, not yet reported */
    char *warnings[RUN_WARNINGS];
};

/* What failed several times. */
struct failures {
    long count, reported; /* in all, and when last reported */
    double first, last;   /* seconds since 1970 */
    double report_at;     /* when to report again, by clock_seconds() */
    double pause;         /* until then, in seconds */
    char reason[1024];    /* of the last */
};

void report_close(struct report *report);
/* An event, stolen; NULL: memory ran out while it was made. */
bool report_emit(struct report *report, json_t *event, struct error *err);
bool report_warning(struct report *report, const char *text, struct error *err);
/* Keep a warning until the "run" event has been reported. `context` is a struct report. */
bool report_keep_warning(void *context, const char *text, struct error *err);

/* A warning of how often `what` has failed; replaces the one before with the same `about`. */
bool report_failures(struct report *report, const char *about, const char *what,
                     const struct failures *failures, struct error *err);
/* Once for each device: why its plans are slower than they could be. */
bool report_notes(struct report *report, struct ranks *ranks, enum pass_size size,
                  struct error *err);

/* The events of the command line's contract. */
bool report_run(struct run *run, struct error *err);
bool report_step(struct run *run, const struct step *step, const struct step_part *parts,
                 double loss, double seconds, struct error *err);
bool report_epoch(struct run *run, struct error *err);
/* Where the steps' time went, if that was measured. */
bool report_profile(struct run *run, struct error *err);
/* A change that takes effect now; `from` and `to` (stolen) are NULL where it has none. Those of a
 * learning rate are of the next step, and scale the schedule where there is one. */
bool report_retune(struct run *run, const char *what, json_t *from, json_t *to, struct error *err);
/* Other shares from the next step on, which took `seconds` to prepare. */
bool report_shares(struct run *run, const struct balance_advice *advice, double seconds,
                   struct error *err);
/* The last event; err is NULL for a run that is done. */
void report_end(struct run *run, const struct error *err);

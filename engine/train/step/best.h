/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "spec/spec.h"

/*
 * Which epoch of a run is its best, by metrics_score: the accuracy on validation rows where there
 * are some, else on test rows. It is the one that --save-best saves, and --patience waits for the
 * next one. Pure.
 */
struct best {
    double score;     /* NAN: nothing has been evaluated yet */
    long epoch;       /* the first that had it; 0: not known */
    long since;       /* how many were evaluated after it */
    bool newest;      /* it is the last one that was evaluated */
    char reason[160]; /* why the run ends before its last epoch; "": it does not */
};

/* Nothing has been evaluated. */
void best_begin(struct best *best);
/* Take an epoch that was evaluated. */
void best_take(struct best *best, double score, long epoch);
/* Does the run end after the newest epoch, whose score this is? `validation`: on these rows. */
void best_decide(struct best *best, const struct spec *spec, bool validation, double score);

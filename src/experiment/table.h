/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/outcome.h"
#include "experiment/study.h"

/* What a study measured. Pure; a number that is not known is NAN. */

/* One run of it, as its entry. */
struct study_run {
    int variant;
    enum study_state state;
    struct measure measure; /* owned */
    double wall_s;          /* from its beginning to its end, evaluation and all */
};

struct study_row {
    const struct study_variant *variant;
    int done, failed, missing; /* runs; missing: not trained, stopped or deleted */
    struct outcome outcome;    /* of those that are done */
};

struct study_table {
    const struct study *study;
    int count;
    struct study_row rows[STUDY_VARIANTS]; /* one a variant, in their order */
    int base;                              /* the row others are compared with; -1: none */
    int last;                              /* the one with most devices that has a speed; -1 */
    bool warm_up;                          /* of some row, see outcome.h */
};

/*
 * The table of a study from one run per entry, in the same order. The base is the variant with the
 * fewest devices whose speed is known; of batches and rates the first whose speed is.
 */
bool study_tabulate(const struct study *study, const struct study_run *runs,
                    struct study_table *table, struct error *err);

/* Are accuracies those on validation rows? */
bool study_validated(const struct study_table *table);

/* What was left out of the speeds, in words. */
const char *study_warm_up_words(const struct study_table *table);

/*
 * Seconds until all is done: what the entries that wait will take, by the runs that are done, and
 * `running_s` for the current one (NAN: not known). NAN when no run is done and that is not known.
 */
double study_seconds_left(const struct study *study, const struct study_run *runs,
                          double running_s);

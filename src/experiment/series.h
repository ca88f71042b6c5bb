/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/outcome.h"
#include "experiment/sweep.h"

/*
 * Runs, whoever submitted them, that differ in the number of their devices, side by side. Pure; the
 * caller fills plain structs from what it knows. They have one strategy, except that one device
 * with strategy data is what all strategies are compared with.
 *
 * The base is the run on the fewest devices whose speed is known; it need not have one device.
 */

/* The text is the caller's and must outlive the series. */
struct series_run {
    long run;
    const char *model, *data, *split, *sync;
    const char *strategy;    /* "data", "pipeline", ... */
    const char *device_kind; /* "cpu", "cuda" */
    const char *device_list; /* "cpu:0-1" */
    const char *note;
    unsigned long settings; /* a digest of all other settings; 0: not known */
    int threads;            /* of each CPU device; 0: not known, or there are none */
    int devices;
    double batch, lr;
    const struct measure *measure;
    double samples_per_s; /* for now, of a run whose first epoch has not ended; NAN: not known */
    bool has_speed;       /* as far as is known without its epochs */
    bool done, failed;
    int preference; /* of several runs on as many devices the one with the highest is taken */
};

enum { SERIES_ROWS = 64, SERIES_REPEATS = 64 };

struct series_row {
    struct series_run run;
    int others; /* further runs that would fit this row */
    const struct measure *repeats[SERIES_REPEATS];
    int repeat_count; /* runs of a study on these devices, this one included */
    struct outcome outcome;
};

struct series {
    enum scaling scaling;
    enum strategy strategy;
    struct series_run anchor;            /* what all are alike to */
    bool guess;                          /* what is not known agrees with anything */
    double batch, lr;                    /* strong: of every run; weak: for one device */
    double target_acc;                   /* to measure the time to; NAN: none */
    int count;                           /* rows, by rising number of devices */
    struct series_row rows[SERIES_ROWS]; /* one a number of devices */
    int base;                            /* the row others are compared with; -1: no speed yet */
    bool threads_differ;                 /* CPU devices of some rows have more threads */
};

/* Are they runs of one sweep or one study, by their notes? Then only what has to differ does. */
bool series_is_one_plan(const char *note, const char *other);

/*
 * Does all agree that has to be the same in all runs: everything but devices, strategy, batch, lr,
 * threads, seed and the number of epochs? What is not known does not agree, unless `guess` or the
 * runs are of one plan. Weights of a split belong to the devices.
 */
bool series_alike(const struct series_run *a, const struct series_run *b, bool guess);

/*
 * A series: begin, add all runs in any order, add them again as repeats, where there may be some,
 * finish. `anchor` says what is the same in all but the strategy, `measure` gives batch and lr
 * (often the same run).
 * A run that does not fit is passed over. Of several on as many devices that one is kept which has
 * the highest preference, then the anchor's threads, then a known speed, then one that does not
 * train now, then one that did not fail, then the newest; if it is of a study, all its repeats that
 * are done count together. False: memory ran out.
 */
void series_begin(struct series *series, enum scaling scaling, enum strategy strategy,
                  const struct series_run *anchor, const struct series_run *measure,
                  double target_acc, bool guess);
void series_add(struct series *series, const struct series_run *run);
void series_add_repeat(struct series *series, const struct series_run *run);
/* Is any row's run of a study, which may have repeats? */
bool series_may_repeat(const struct series *series);
bool series_finish(struct series *series, struct error *err);

/* That of a run; data, where it is not known. */
enum strategy series_strategy(const struct series_run *run);

/* What `count` runs measured, the run and its repeats; against no base yet. */
bool series_outcome(const struct series_run *run, const struct measure *const *measures, int count,
                    double target_acc, struct outcome *outcome, struct error *err);

/* Is this another run of the study that the row's is of, on the same devices? */
bool series_is_repeat(const struct series_row *row, const struct series_run *run);

/* The speed-up that ideal scaling from the base would give on `devices`. */
double series_ideal_speed_up(const struct series *series, double devices);

/* Are the accuracies of its runs those on validation rows? */
bool series_validated(const struct series *series);

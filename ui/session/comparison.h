/* SPDX-License-Identifier: MIT */
#pragma once

#include "experiment/forecast.h"
#include "experiment/series.h"
#include "experiment/study.h"
#include "ui/state/state.h"

struct ui;

/* Over the number of devices. */
enum compare_metric {
    COMPARE_SPEED_UP,
    COMPARE_SAMPLES,
    COMPARE_SECONDS, /* an epoch */
    COMPARE_EFFICIENCY,
    COMPARE_ACCURACY,
    COMPARE_TARGET, /* seconds to the target accuracy */
    COMPARE_METRICS
};

struct compare_choice {
    long anchor;                     /* the run whose like are compared; 0: the newest that ended */
    enum compare_metric metric;      /* of the chart ... */
    enum compare_metric grid_metric; /* ... and of that of a grid */
    double target_acc;               /* the time to it is measured; NAN: none */
    /*
     * While a question is open what it is about, then what is being submitted: the next run when
     * the engine has taken the one before, so that they stand in the queue in order.
     */
    struct sweep sweep;
    struct study grid; /* of values of settings; without runs: it is about the sweep */
    bool submitting;
    int taken; /* how many runs the engine has taken */
};

/*
 * The runs that the compare view sets side by side: those like its anchor, as one to four series
 * of src/experiment/series.h: strong and weak scaling with the anchor's strategy, and the first of
 * these with each other strategy. Its lines are the rows of one series after the other.
 * Rebuilt from the state whenever it is needed; text in it belongs to the state.
 */
enum { COMPARISON_SERIES = 1 + STRATEGIES };

struct comparison {
    const struct state_run *anchor; /* NULL: there are no runs */
    bool guess;                     /* runs of which too little is known are there, too */
    int count;                      /* series; 0 only without an anchor */
    struct series series[COMPARISON_SERIES];
};

/* What is known of a run, to be compared with the anchor. Its text belongs to the state. */
struct series_run comparison_run(const struct ui *ui, const struct state_run *run,
                                 const struct state_run *anchor);

void comparison_make(const struct ui *ui, struct comparison *comparison);
/* The run whose like are compared; NULL: there are no runs. */
const struct state_run *comparison_anchor(const struct ui *ui);

/* Of the machine, which its CPU devices share; 0: not known. */
int comparison_cores(const struct ui *ui);

/* Of each run that may belong to it, also with what is not known yet: `want` its epochs. */
void comparison_want(struct ui *ui, void (*want)(struct ui *ui, long run));

/* Is there more than one number of devices, or strategy? */
bool comparison_says_something(const struct comparison *comparison);
int comparison_lines(const struct comparison *comparison);
/* A line's row and, when not NULL, its series; NULL after the last. */
const struct series_row *comparison_row(const struct comparison *comparison, int line,
                                        const struct series **series);
/* The fastest row on as many devices with another strategy; NULL: there is none. */
const struct series_row *comparison_rival(const struct comparison *comparison,
                                          const struct series *series,
                                          const struct series_row *row);
/* Twice as many devices as a series has, where its runs say enough; the basis points into it. */
bool comparison_foresee(const struct ui *ui, const struct series *series,
                        struct forecast_basis *basis, struct forecast *forecast);
/* The line in focus: that of the selected run, the one the keys moved to where it has two; or -1.
 */
int comparison_line(const struct ui *ui, const struct comparison *comparison);

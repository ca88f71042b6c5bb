/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/axis.h"
#include "ui/chart/chart.h"
#include "ui/chart/curve.h"
#include "ui/session/ui.h"

/* Which curves a chart of runs holds. */
enum { RUN_CHART_MARKS = 64 };

struct run_chart {
    enum metric metric;
    struct chart chart;
    struct axis axis; /* of the front run */
    double weight;    /* of smoothing; 0: none */
    /* The front run's may be joined by a companion, a rest, a test, and what two were before they
     * were smoothed. */
    struct chart_series series[UI_CHART_RUNS + 5];
    double marks[RUN_CHART_MARKS];
    bool left_out; /* values of 0 and less have no logarithm */
    char title[96], note[96], advice[160];
};

/* Is the screen wide enough for two charts side by side? */
bool run_charts_are_two(const struct ui *ui);
/* Is the training curve of the front run (which may be NULL) shown with the test curve, or the
 * other way round? Of two charts both are in each, unless the user wants one. Before the first test
 * the training curve stands in for that of the test. */
bool run_curves_has_companion(const struct ui *ui, const struct state_run *front,
                              enum metric metric);
/* Has no epoch of a run that trains been tested, so that its training curve stands in? */
bool run_curves_stands_in(const struct state_run *front, enum metric metric);

/* Is the y axis of the metric logarithmic? Never that of an accuracy. */
bool run_curves_are_logarithmic(const struct ui *ui, enum metric metric);

/* How strongly curves of the metric are smoothed; learning rates never are. */
double run_curves_weight(const struct ui *ui, enum metric metric);

/* Copy the curves of `count` runs, the last one in front, over the window of made->chart. The
 * caller releases them with run_chart_free, also after false. */
bool run_curves_add(const struct ui *ui, struct run_chart *made,
                    const struct state_run *const *runs, int count, struct error *err);

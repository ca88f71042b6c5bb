/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/chart.h"
#include "ui/chart/curve.h"
#include "ui/panels/panel.h"

/*
 * The chart of the runs: which curves it holds, over which epochs, and what the cursor reads. The
 * front run is the running one, or the newest; its curve is the one that is read.
 */
enum { RUN_CHART_MARKS = 64 };

struct run_chart {
    struct chart chart;
    struct chart_series series[UI_CHART_RUNS + 1]; /* a companion or a rest may join them */
    double marks[RUN_CHART_MARKS];
    char title[64], note[96], advice[160];
};

/* Gather what `ui` shows now; `chart` must not move meanwhile. run_chart_free also after false. */
bool run_chart_make(const struct ui *ui, struct run_chart *chart, struct error *err);
void run_chart_free(struct run_chart *chart);

/* All epochs that the chart can show, and those that it does show. */
void run_chart_bounds(const struct ui *ui, double *low, double *high);
void run_chart_window(const struct ui *ui, double *low, double *high);
/* A line about the epoch at the cursor, or about the front run. */
void run_chart_hint(const struct ui *ui, char *buffer, size_t size);

draw_part panel_chart;

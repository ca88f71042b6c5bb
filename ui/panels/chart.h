/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/panels/panel.h"
#include "ui/panels/run_curves.h"

/*
 * The chart of the runs: which curves it holds, over which epochs, and what the cursor reads. The
 * front run is the running one, or the newest; its curve is the one that is read.
 */
/* Gather what `ui` shows now of `metric`; `chart` must not move meanwhile. run_chart_free also
 * after false. */
bool run_chart_make(const struct ui *ui, enum metric metric, struct run_chart *chart,
                    struct error *err);
void run_chart_free(struct run_chart *chart);

/* All epochs that the chart can show, and those that it does show. */
void run_chart_bounds(const struct ui *ui, double *low, double *high);
void run_chart_window(const struct ui *ui, double *low, double *high);
/* A line about the epoch at the cursor, or about the front run. */
void run_chart_hint(const struct ui *ui, char *buffer, size_t size);

/* One chart, or on a wide screen two: losses at the left, accuracies at the right, or the metric
 * that was chosen and what it acts on. Over the same epochs, with the same cursor. */
draw_part panel_chart;

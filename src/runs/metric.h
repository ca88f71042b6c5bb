/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runs/view.h"
#include "ui/chart/chart.h"

/* The metrics of a run that have a curve over its epochs. */
struct run_metric {
    const char *name;  /* as members of events are called */
    const char *title; /* in words */
    bool between;      /* known between epochs, too */
    bool may_diverge;  /* as ui/chart/chart.h has it */
    double top;        /* never above this */
};

/* NULL after the last. */
const struct run_metric *run_metric(size_t index);
/* ERROR_USAGE: there is no such metric. */
const struct run_metric *run_metric_find(const char *name, struct error *err);

/* More points than a picture can show are thinned out to this number or fewer. */
#define RUN_METRIC_POINTS 16384

/*
 * The curve of a metric of a run, over passes through the training rows; what is not known is NAN.
 * Of a very long one only the lowest and the highest of some points in a row are left. *points is a
 * new array the caller frees; *count may be 0.
 */
bool run_metric_curve(const struct run_metric *metric, const struct run_view *view,
                      struct chart_point **points, int *count, struct error *err);

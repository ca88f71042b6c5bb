/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_RUNS_FIGURE_H
#define DPARTUI_RUNS_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

#include "runs/view.h"
#include "ui/chart/chart.h"

/* The figures of a run that have a curve over its epochs. */
struct run_figure {
    const char *name;  /* as members of events are called */
    const char *title; /* in words */
    bool between;      /* known between epochs, too */
    bool may_diverge;  /* as ui/chart/chart.h has it */
    double top;        /* never above this */
};

/* NULL behind the last. */
const struct run_figure *run_figure(size_t index);
/* ERROR_USAGE: there is no such figure. */
const struct run_figure *run_figure_find(const char *name, struct error *err);

/* More points than a picture can show are thinned out to so many or fewer. */
#define RUN_FIGURE_POINTS 16384

/*
 * The curve of a figure of a run, over passes through the training rows; what is not known is NAN.
 * Of a very long one only the lowest and the highest of some points in a row are left. *points is a
 * new array the caller frees; *count may be 0.
 */
bool run_figure_curve(const struct run_figure *figure, const struct run_view *view,
                      struct chart_point **points, int *count, struct error *err);

#endif

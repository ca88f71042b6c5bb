/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/chart.h"
#include "ui/state/state.h"

/*
 * The curve of a metric of a run: of the points between epochs where the run has any and the metric
 * is one of training, so that it moves long before the first epoch ends; else of whole epochs.
 */
struct curve {
    const struct state_run *run;
    enum metric metric;
    const struct epoch_point *points; /* the run's */
    int count;
};

struct curve curve_of(const struct state_run *run, enum metric metric);

/* What a chart has to know of a metric. */
struct metric_look {
    const char *title, *name; /* "Test accuracy"; "test" in the legend of two curves */
    double floor, top;        /* the metric is never beyond */
    bool low_is_good, fine;   /* `fine`: also known between epochs, so the x axis begins at 0 */
    enum metric companion;    /* the other of training and test; itself: there is none */
    enum metric beside;       /* in the other one of two charts side by side */
    enum chart_unit unit;
};
const struct metric_look *metric_look(enum metric metric);

/* Of one of the curve's points; NAN: not known. */
double curve_value(const struct curve *curve, int i);
/* The known point nearest to `epoch`; -1: the curve has none there. */
int curve_nearest(const struct curve *curve, double epoch);
/* The next known point after `epoch` (direction 1) or before it (-1); -1: none. */
int curve_next(const struct curve *curve, double epoch, int direction);
/* The first value, the last and the best one; NAN: none (of learning rates and noise scales none is
 * the best). */
double curve_first(const struct curve *curve);
double curve_last(const struct curve *curve);
double curve_best(const struct curve *curve);

/*
 * Copy what lies in from..to, smoothed over all points so far (weight 0: as it is; smooth.h), and a
 * point on either side, for the chart; when there are more than CURVE_MOST points, the lowest and
 * the highest of each few instead. The caller frees *points; returns how many, -1: memory ran out.
 */
enum { CURVE_MOST = 4096 };
int curve_copy(const struct curve *curve, double from, double to, double weight,
               struct chart_point **points, struct error *err);

/* Where between epochs a change happened, by its step; NAN: not known. */
double retune_epoch(const struct state_run *run, const struct retune *retune);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/figure.h"
#include "ui/chart/chart.h"
#include "ui/chart/scale.h"
#include "ui/draw/canvas.h"

/* Where a chart's parts lie and how values become dots. */
struct plot {
    struct rect inside; /* the curves */
    int end_room;       /* columns after them, for labels */
    struct ticks x, y;
    double x_low, x_high, y_low, y_high;
    struct canvas canvas;
};

double plot_dot_x(const struct plot *plot, double x);
double plot_dot_y(const struct plot *plot, double y);
/* The cell of a dot, clipped to the plot. */
int plot_column(const struct plot *plot, double dot);
int plot_row(const struct plot *plot, double dot);

/* Does it stand in the legend, and its name at its end? */
bool series_has_name(const struct chart_series *series);
/* NULL: it has none. */
const struct chart_point *series_last_point(const struct chart_series *series);
struct canvas_pen series_pen(const struct chart_series *series, int layer);
enum canvas_kind chart_canvas(const struct chart *chart, const struct surface *surface);
/* A value as the legend, or a tick (with its own decimals) shows it. */
const char *chart_figure(const struct chart *chart, struct figure *figure, double value,
                         int decimals);

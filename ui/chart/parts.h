/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CHART_PARTS_H
#define DPARTUI_UI_CHART_PARTS_H

#include "base/figure.h"
#include "ui/chart/chart.h"
#include "ui/draw/canvas.h"

/* What the files that draw a chart (part of ui/chart/chart.h) share. */

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

/* NULL: it has none. */
const struct chart_point *series_last_point(const struct chart_series *series);
/* The end label: "12", "12 train" or what the series is called. */
struct series_name {
    char text[32];
};
const char *series_name(const struct chart_series *series, struct series_name *name);
struct canvas_pen series_pen(const struct chart_series *series, int layer);
enum canvas_kind chart_canvas(const struct chart *chart, const struct surface *surface);
/* A value as the legend, or a tick (with its own decimals) shows it. */
const char *chart_figure(const struct chart *chart, struct figure *figure, double value,
                         int decimals);

/* chart/curves.c: the curves themselves, on the plot's canvas, marks at their points and where
 * they leave it. */
void draw_curve(struct plot *plot, const struct chart_series *series, int layer);
void draw_points(const struct plot *plot, struct surface *surface,
                 const struct chart_series *series);
void draw_beyond(const struct plot *plot, struct surface *surface,
                 const struct chart_series *series);

/* chart/legend.c: names and values in the first row, and at the curves' ends. */
void draw_legend(const struct chart *chart, struct surface *surface, int y, int x, int end);
void draw_end_labels(const struct plot *plot, struct surface *surface, const struct chart *chart);

#endif

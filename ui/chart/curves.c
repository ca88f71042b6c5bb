/* SPDX-License-Identifier: MIT */
#include "ui/chart/curves.h"

#include <math.h>
#include <stddef.h>

/* Curves as lines of dots. */

/* All of a curve that falls into one column of dots: drawn as what it spans. */
struct span {
    double x, low, high, last; /* in dots; x and last of the newest point */
    bool any;
};

static void draw_span(struct plot *plot, const struct span *span, const struct canvas_pen *pen)
{
    if (span->any && span->low < span->high)
        canvas_line(&plot->canvas, round(span->x), span->low, round(span->x), span->high, pen);
}

/* A line to the next point; points of the same column of dots are gathered first. */
static void line_to(struct plot *plot, struct span *span, double x, double y,
                    const struct canvas_pen *pen)
{
    if (span->any && round(x) == round(span->x)) {
        span->low = fmin(span->low, y);
        span->high = fmax(span->high, y);
        span->x = x;
        span->last = y;
        return;
    }
    draw_span(plot, span, pen);
    if (span->any)
        canvas_line(&plot->canvas, span->x, span->last, x, y, pen);
    *span = (struct span){x, y, y, y, true};
}

/* A point alone is one or two dots that no pattern may leave out. */
static void draw_point(struct plot *plot, double x, double y, const struct canvas_pen *pen)
{
    struct canvas_pen whole = {pen->layer, CANVAS_SOLID, pen->style};
    canvas_line(&plot->canvas, x, y, x + plot->canvas.across - 1, y, &whole);
}

void draw_curve(struct plot *plot, const struct chart_series *series, int layer)
{
    struct canvas_pen pen = series_pen(series, layer);
    struct span span = {0};
    for (int i = 0; i < series->count; i++) {
        const struct chart_point *point = &series->points[i];
        double x = plot_dot_x(plot, point->x), y = plot_dot_y(plot, point->y);
        if (!isfinite(y)) {
            draw_span(plot, &span, &pen);
            span.any = false;
            continue;
        }
        if (!span.any)
            draw_point(plot, x, y, &pen);
        else if (series->stepped)
            line_to(plot, &span, span.x, y, &pen);
        line_to(plot, &span, x, y, &pen);
    }
    draw_span(plot, &span, &pen);
}

void draw_points(const struct plot *plot, struct surface *surface,
                 const struct chart_series *series)
{
    for (int i = 0; series->mark != 0 && i < series->count; i++) {
        const struct chart_point *point = &series->points[i];
        if (point->x >= plot->x_low && point->x <= plot->x_high && point->y >= plot->y_low &&
            point->y <= plot->y_high)
            surface_put(surface, plot->inside.y + plot_row(plot, plot_dot_y(plot, point->y)),
                        plot->inside.x + plot_column(plot, plot_dot_x(plot, point->x)),
                        series->mark, series_pen(series, 0).style);
    }
}

/* Where the line from `a`, inside, to `b`, outside, crosses the edge. */
static double crossing(const struct chart_point *a, const struct chart_point *b, double edge)
{
    return a->x + (edge - a->y) / (b->y - a->y) * (b->x - a->x);
}

void draw_beyond(const struct plot *plot, struct surface *surface,
                 const struct chart_series *series)
{
    struct canvas_pen pen = series_pen(series, 0);
    double slack = (plot->y_high - plot->y_low) * 1e-9;
    const struct chart_point *before = NULL;
    for (int i = 0; i < series->count; i++) {
        const struct chart_point *point = &series->points[i];
        bool above = point->y > plot->y_high + slack, below = point->y < plot->y_low - slack;
        if (above || below) {
            double edge = above ? plot->y_high : plot->y_low;
            double x = !before || series->stepped ? point->x : crossing(before, point, edge);
            /* Only where it leaves: not at each point outside. */
            if ((!before || (above ? before->y <= edge : before->y >= edge)) && x >= plot->x_low &&
                x <= plot->x_high)
                surface_glyph(surface, plot->inside.y + (above ? 0 : plot->inside.h - 1),
                              plot->inside.x + plot_column(plot, plot_dot_x(plot, x)),
                              above ? GLYPH_ABOVE : GLYPH_BELOW, pen.style);
        }
        before = isfinite(point->y) ? point : NULL;
    }
}

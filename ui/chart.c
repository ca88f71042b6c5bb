/* SPDX-License-Identifier: MIT */
#include "ui/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ui/canvas.h"
#include "ui/format.h"

enum { END_LABEL = 4, ROWS_A_TICK = 3, COLUMNS_A_TICK = 6 };

/* The smallest of 1, 2, 5 times a power of ten that is not below `step`. */
static double nice_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double fraction = step / power;

    return power * (fraction <= 1 + 1e-9   ? 1
                    : fraction <= 2 + 1e-9 ? 2
                    : fraction <= 5 + 1e-9 ? 5
                                           : 10);
}

static int decimals_of(double step)
{
    int decimals = (int)ceil(-log10(step) - 1e-9);

    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

struct ticks ticks_around(double low, double high, int most)
{
    most = most < 2 ? 2 : most;
    if (!isfinite(low) || !isfinite(high) || fabs(low) > 1e100 || fabs(high) > 1e100) {
        low = 0;
        high = 1;
    }
    if (high < low)
        high = low;
    /* Nearer than a double can step between them. */
    double least = fmax(fabs(low), fabs(high)) * 1e-9;
    if (high - low <= least) {
        double around = fmax(fabs(low) * 0.01, 1e-3);

        low -= around;
        high += around;
    }
    double step = nice_step((high - low) / (most - 1));
    for (;;) {
        double first = floor(low / step + 1e-9) * step;
        int count = (int)ceil((high - first) / step - 1e-9) + 1;

        if (count <= most)
            return (struct ticks){first, step, count < 2 ? 2 : count, decimals_of(step)};
        step = nice_step(step * 1.5);
    }
}

struct ticks ticks_inside(double low, double high, int most)
{
    most = most < 2 ? 2 : most;
    double step = nice_step(fmax(1, (high - low) / (most - 1)));
    double first = ceil(low / step - 1e-9) * step;

    if (high < first)
        return (struct ticks){low, step, 1, 0};
    return (struct ticks){first, step, (int)floor((high - first) / step + 1e-9) + 1, 0};
}

struct ticks chart_y_ticks(const struct chart *chart, int most)
{
    double low = INFINITY, high = -INFINITY;

    for (int i = 0; i < chart->count; i++)
        for (int j = 0; j < chart->series[i].count; j++)
            if (isfinite(chart->series[i].points[j].y)) {
                low = fmin(low, chart->series[i].points[j].y);
                high = fmax(high, chart->series[i].points[j].y);
            }
    struct ticks ticks = ticks_around(low, high, most);
    /* A point alone is widened: back to what the quantity can be. */
    while (ticks.count > 2 && ticks.first < chart->y_floor - ticks.step / 2) {
        ticks.first += ticks.step;
        ticks.count--;
    }
    while (ticks.count > 2 &&
           ticks.first + ticks.step * (ticks.count - 1) > chart->y_top + ticks.step / 2)
        ticks.count--;
    return ticks;
}

/* Where a chart's parts lie and how values become dots. */
struct plot {
    struct rect inside; /* the curves */
    struct ticks x, y;
    double x_low, x_high, y_low, y_high;
    struct canvas canvas;
};

static double dot_x(const struct plot *plot, double x)
{
    return (x - plot->x_low) / (plot->x_high - plot->x_low) * (plot->canvas.dots_across - 1);
}

static double dot_y(const struct plot *plot, double y)
{
    return (plot->y_high - y) / (plot->y_high - plot->y_low) * (plot->canvas.dots_down - 1);
}

static enum style rank_style(enum series_rank rank)
{
    return rank == SERIES_MAIN     ? STYLE_SERIES
           : rank == SERIES_MARKED ? STYLE_SERIES_MARKED
                                   : STYLE_SERIES_PAST;
}

static void draw_series(struct plot *plot, const struct chart_series *series, int layer)
{
    struct canvas_pen pen = {layer, series->rank == SERIES_PAST ? 2 : 1, rank_style(series->rank)};
    const struct chart_point *before = NULL;

    for (int i = 0; i < series->count; i++) {
        const struct chart_point *point = &series->points[i];

        if (!isfinite(point->y)) {
            before = NULL;
            continue;
        }
        if (before != NULL) {
            canvas_line(&plot->canvas, dot_x(plot, before->x), dot_y(plot, before->y),
                        dot_x(plot, point->x), dot_y(plot, point->y), &pen);
        } else {
            struct canvas_pen whole = {pen.layer, 1, pen.style};

            canvas_line(&plot->canvas, dot_x(plot, point->x), dot_y(plot, point->y),
                        dot_x(plot, point->x) + plot->canvas.braille, dot_y(plot, point->y),
                        &whole);
        }
        before = point;
    }
}

static const struct chart_point *last_point(const struct chart_series *series)
{
    for (int i = series->count - 1; i >= 0; i--)
        if (isfinite(series->points[i].y))
            return &series->points[i];
    return NULL;
}

static int series_name(const struct chart_series *series, char *buffer, size_t size)
{
    return series->name != NULL ? snprintf(buffer, size, "%s", series->name)
                                : snprintf(buffer, size, "%ld", series->number);
}

/* The name or the run's number behind the end of its curve, on the first free row nearby. */
static void label_end(const struct plot *plot, struct surface *surface,
                      const struct chart_series *series)
{
    static const int tries[] = {0, -1, 1, -2, 2};
    const struct chart_point *point = last_point(series);
    char label[24];

    if (point == NULL || point->x > plot->x_high)
        return;
    int across = plot->canvas.dots_across / plot->canvas.columns;
    int down = plot->canvas.dots_down / plot->canvas.rows;
    int x = plot->inside.x + (int)lround(dot_x(plot, point->x)) / across + 1;
    int y = plot->inside.y + (int)lround(dot_y(plot, point->y)) / down;
    int length = series_name(series, label, sizeof label);

    x++;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        int row = y + tries[i];
        bool is_free = row >= plot->inside.y && row < plot->inside.y + plot->inside.h &&
                       x + length <= plot->inside.x + plot->inside.w + END_LABEL;

        for (int j = -1; j <= length && is_free; j++) {
            const struct cell *cell = surface_at(surface, row, x + j);

            is_free = cell == NULL || j < 0 || cell->character == ' ';
        }
        if (is_free) {
            surface_text(surface, row, x, length, rank_style(series->rank), label);
            return;
        }
    }
}

/* "12  0.912  best 0.915" for the main and the marked curve, as far as there is room. */
static void draw_legend(const struct chart *chart, struct surface *surface, int y, int x, int end)
{
    for (int i = chart->count - 1; i >= 0; i--) {
        const struct chart_series *series = &chart->series[i];
        struct figure last, best;
        char name[24], text[96];

        if (series->rank == SERIES_PAST || last_point(series) == NULL)
            continue;
        series_name(series, name, sizeof name);
        snprintf(text, sizeof text, "%s: %s best %s", name,
                 figure_fixed(&last, series->last, chart->decimals),
                 figure_fixed(&best, series->best, chart->decimals));
        if (x + text_columns(text) > end || !isfinite(series->best))
            snprintf(text, sizeof text, "%s: %s", name, last.text);
        if (x + text_columns(text) > end)
            return;
        x += surface_text(surface, y, x, end - x, rank_style(series->rank), text) + 3;
    }
}

/* A character on each point, for series of few points. */
static void mark_points(const struct plot *plot, struct surface *surface,
                        const struct chart_series *series)
{
    int across = plot->canvas.dots_across / plot->canvas.columns;
    int down = plot->canvas.dots_down / plot->canvas.rows;

    for (int i = 0; series->mark != 0 && i < series->count; i++)
        if (isfinite(series->points[i].y))
            surface_put(surface,
                        plot->inside.y + (int)lround(dot_y(plot, series->points[i].y)) / down,
                        plot->inside.x + (int)lround(dot_x(plot, series->points[i].x)) / across,
                        series->mark, rank_style(series->rank));
}

static void draw_axes(const struct plot *plot, struct surface *surface)
{
    int left = plot->inside.x - 1, floor_row = plot->inside.y + plot->inside.h;

    for (int y = plot->inside.y; y < floor_row; y++)
        surface_glyph(surface, y, left, GLYPH_AXIS_SIDE, STYLE_TRACK);
    surface_glyph(surface, floor_row, left, GLYPH_AXIS_CORNER, STYLE_TRACK);
    for (int x = 0; x < plot->inside.w; x++)
        surface_glyph(surface, floor_row, plot->inside.x + x, GLYPH_AXIS_FLOOR, STYLE_TRACK);
    int down = plot->canvas.dots_down / plot->canvas.rows;
    for (int i = 0; i < plot->y.count; i++) {
        double value = plot->y.first + plot->y.step * i;
        int y = plot->inside.y + (int)lround(dot_y(plot, value)) / down;
        struct figure text;

        surface_right(surface, y, left - 7, 6, STYLE_LABEL,
                      figure_fixed(&text, value, plot->y.decimals));
        surface_glyph(surface, y, left, GLYPH_AXIS_TICK, STYLE_TRACK);
    }
    int across = plot->canvas.dots_across / plot->canvas.columns;
    for (int i = 0; i < plot->x.count; i++) {
        double value = plot->x.first + plot->x.step * i;
        int x = plot->inside.x + (int)lround(dot_x(plot, value)) / across;
        struct figure text;
        int length = text_columns(figure_whole(&text, value));

        surface_glyph(surface, floor_row, x, GLYPH_AXIS_FLOOR_TICK, STYLE_TRACK);
        surface_text(surface, floor_row + 1, x - (length - 1) / 2, length, STYLE_LABEL, text.text);
    }
}

/* The rows and columns left for curves; false when there are too few. */
static bool place(struct plot *plot, const struct chart *chart, struct rect area)
{
    plot->inside = (struct rect){area.y + 1, area.x + 8, area.h - 3, area.w - 8 - END_LABEL - 1};
    if (plot->inside.h < 2 || plot->inside.w < 8)
        return false;
    plot->y = chart_y_ticks(chart, plot->inside.h / ROWS_A_TICK + 2);
    plot->y_low = plot->y.first;
    plot->y_high = plot->y.first + plot->y.step * (plot->y.count - 1);
    plot->x = ticks_inside(chart->x_low, chart->x_high, plot->inside.w / COLUMNS_A_TICK + 1);
    plot->x_low = chart->x_low;
    plot->x_high = chart->x_high;
    return true;
}

bool chart_draw(const struct chart *chart, struct surface *surface, struct rect area,
                struct error *err)
{
    struct plot plot;
    bool any = false;
    int used = surface_text(surface, area.y, area.x, area.w, STYLE_LABEL, chart->title);

    for (int i = 0; i < chart->count; i++)
        any = any || last_point(&chart->series[i]) != NULL;
    if (!place(&plot, chart, area))
        return true;
    if (!any) {
        if (chart->advice != NULL)
            surface_paragraph(surface,
                              (struct rect){area.y + 2, area.x + 2, area.h - 2, area.w - 4},
                              STYLE_NORMAL, chart->advice);
        return true;
    }
    if (!canvas_open(&plot.canvas, plot.inside.h, plot.inside.w, surface->utf8, err))
        return false;
    draw_legend(chart, surface, area.y, area.x + used + 3, area.x + area.w);
    draw_axes(&plot, surface);
    surface_right(surface, plot.inside.y + plot.inside.h + 1, area.x,
                  chart->x_label != NULL ? 7 : 6, STYLE_LABEL,
                  chart->x_label != NULL ? chart->x_label : "epoch");
    for (int i = 0; i < chart->count; i++)
        draw_series(&plot, &chart->series[i], i % 255 + 1);
    canvas_show(&plot.canvas, surface, plot.inside.y, plot.inside.x);
    for (int i = 0; i < chart->count; i++)
        mark_points(&plot, surface, &chart->series[i]);
    for (int i = chart->count - 1; i >= 0; i--)
        label_end(&plot, surface, &chart->series[i]);
    canvas_close(&plot.canvas);
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "ui/chart/plot.h"

#include <math.h>
#include <stdio.h>

double plot_dot_x(const struct plot *plot, double x)
{
    return (x - plot->x_low) / (plot->x_high - plot->x_low) * (plot->canvas.dots_across - 1);
}

double plot_dot_y(const struct plot *plot, double y)
{
    return (plot->y_high - y) / (plot->y_high - plot->y_low) * (plot->canvas.dots_down - 1);
}

int plot_column(const struct plot *plot, double dot)
{
    return (int)lround(fmin(fmax(dot, 0), plot->canvas.dots_across - 1)) / plot->canvas.across;
}

int plot_row(const struct plot *plot, double dot)
{
    return (int)lround(fmin(fmax(dot, 0), plot->canvas.dots_down - 1)) / plot->canvas.down;
}

enum canvas_kind chart_canvas(const struct chart *chart, const struct surface *surface)
{
    return surface->utf8 ? chart->canvas : CANVAS_ASCII;
}

struct canvas_pen series_pen(const struct chart_series *series, int layer)
{
    static const struct {
        unsigned pattern;
        enum style style;
    } marked[SERIES_LOOKS] = {
        {CANVAS_LONG_DASHES, STYLE_SERIES_MARKED},   {CANVAS_SHORT_DASHES, STYLE_SERIES_MARKED_2},
        {CANVAS_DASH_DOT, STYLE_SERIES_MARKED_3},    {CANVAS_NOTCHED, STYLE_SERIES_MARKED_4},
        {CANVAS_WIDE_GAPS, STYLE_SERIES_MARKED_3},   {CANVAS_DOT_DASH_GAP, STYLE_SERIES_MARKED_4},
        {CANVAS_SPARSE_DASHES, STYLE_SERIES_MARKED}, {CANVAS_SPARSE_DOTS, STYLE_SERIES_MARKED_2},
    };
    int look = series->look >= 0 ? series->look % SERIES_LOOKS : 0;
    switch (series->rank) {
    case SERIES_MAIN:
        return (struct canvas_pen){layer, CANVAS_SOLID, STYLE_SERIES};
    case SERIES_COMPANION:
        return (struct canvas_pen){layer, CANVAS_DASHES, STYLE_SERIES_COMPANION};
    case SERIES_MARKED:
        return (struct canvas_pen){layer, marked[look].pattern, marked[look].style};
    case SERIES_REFERENCE:
    case SERIES_REST:
        return (struct canvas_pen){layer, CANVAS_FEW_DOTS, STYLE_SERIES_PAST};
    case SERIES_RAW:
    default:
        return (struct canvas_pen){layer, CANVAS_DOTS, STYLE_SERIES_PAST};
    }
}

const char *chart_figure(const struct chart *chart, struct figure *figure, double value,
                         int decimals)
{
    if (!isfinite(value))
        return figure_digits(figure, value, 4);
    switch (chart->unit) {
    case CHART_COUNT:
        return figure_count(figure, value);
    case CHART_SHORT:
        return figure_digits(figure, value, 4);
    case CHART_PERCENT:
        snprintf(figure->text, sizeof figure->text, "%.4g%%", value * 100);
        return figure->text;
    case CHART_TIMES:
        return figure_times(figure, value);
    default:
        return figure_fixed(figure, value, decimals);
    }
}

bool series_has_name(const struct chart_series *series)
{
    return series->rank != SERIES_REST && series->rank != SERIES_RAW;
}

const struct chart_point *series_last_point(const struct chart_series *series)
{
    for (int i = series->count - 1; i >= 0; i--)
        if (isfinite(series->points[i].y))
            return &series->points[i];
    return NULL;
}

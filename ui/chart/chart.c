/* SPDX-License-Identifier: MIT */
#include "ui/chart/chart.h"

#include <math.h>

#include "ui/chart/curves.h"
#include "ui/chart/legend.h"
#include "ui/chart/plot.h"
#include "ui/chart/scale.h"

enum { Y_LABEL = 6, LEFT = Y_LABEL + 2, END_LABEL = 4, LONGEST_LABEL = 8 };
enum { ROWS_A_TICK = 3, COLUMNS_A_TICK = 6 };
enum { LEGEND_GAP = 3, TITLE_LEAST = 12 };

static void draw_y_axis(const struct plot *plot, struct surface *surface, const struct chart *chart)
{
    int left = plot->inside.x - 1;
    for (int y = 0; y < plot->inside.h; y++)
        surface_glyph(surface, plot->inside.y + y, left, GLYPH_AXIS_SIDE, STYLE_TRACK);
    for (int i = 0; i < plot->y.count; i++) {
        double value = tick_value(&plot->y, i), at = chart->logarithmic ? log10(value) : value;
        int y = plot->inside.y + plot_row(plot, plot_dot_y(plot, at));
        struct figure text;
        if (plot->y.logarithmic && chart->unit == CHART_PLAIN)
            figure_digits(&text, value, 4);
        else if (text_columns(chart_figure(chart, &text, value, plot->y.decimals)) > Y_LABEL)
            figure_digits(&text, value, 4);
        surface_right(surface, y, left - 1 - Y_LABEL, Y_LABEL, STYLE_LABEL, text.text);
        surface_glyph(surface, y, left, GLYPH_AXIS_TICK, STYLE_TRACK);
    }
}

/* What stands below the cursor, and where it begins; false: there is no cursor in sight. */
static bool cursor_label(const struct plot *plot, const struct chart *chart, struct figure *text,
                         int *start)
{
    if (!chart->reading || !(chart->cursor >= plot->x_low && chart->cursor <= plot->x_high))
        return false;
    int length = text_columns(figure_digits(text, chart->cursor, 4));
    int left =
        plot->inside.x + plot_column(plot, plot_dot_x(plot, chart->cursor)) - (length - 1) / 2;
    *start = left > plot->inside.x ? left : plot->inside.x;
    return true;
}

/* What stands at a tick of the x axis, into `text` or elsewhere. */
static const char *x_text(const struct chart *chart, double value, int decimals,
                          struct figure *text)
{
    if (!chart->x_names)
        return figure_fixed(text, value, decimals);
    return value >= 1 && value <= chart->x_name_count ? chart->x_names[lround(value) - 1] : "";
}

/* From one tick of the x axis to the next, at least. */
static int x_columns(const struct chart *chart, double high)
{
    struct figure figure;
    int longest = chart->x_names ? 0 : text_columns(figure_fixed(&figure, high, 0));
    for (int i = 0; chart->x_names && i < chart->x_name_count; i++) {
        const int length = text_columns(chart->x_names[i]);
        longest = length > longest ? length : longest;
    }
    return longest + 2 > COLUMNS_A_TICK ? longest + 2 : COLUMNS_A_TICK;
}

static void draw_x_axis(const struct plot *plot, struct surface *surface, const struct chart *chart)
{
    int floor_row = plot->inside.y + plot->inside.h, left = plot->inside.x;
    struct figure cursor;
    int taken = 0, end = 0;
    if (cursor_label(plot, chart, &cursor, &taken))
        end = taken-- + text_columns(cursor.text) + 1;
    surface_glyph(surface, floor_row, left - 1, GLYPH_AXIS_CORNER, STYLE_TRACK);
    for (int x = 0; x < plot->inside.w; x++)
        surface_glyph(surface, floor_row, left + x, GLYPH_AXIS_FLOOR, STYLE_TRACK);
    surface_right(surface, floor_row + 1, left - LEFT, chart->x_label ? LEFT - 1 : LEFT - 2,
                  STYLE_LABEL, chart->x_label ? chart->x_label : "epoch");
    for (int i = 0; i < plot->x.count; i++) {
        double value = tick_value(&plot->x, i);
        int x = left + plot_column(plot, plot_dot_x(plot, value));
        struct figure figure;
        const char *text = x_text(chart, value, plot->x.decimals, &figure);
        int length = text_columns(text);
        surface_glyph(surface, floor_row, x, GLYPH_AXIS_FLOOR_TICK, STYLE_TRACK);
        /* One that the cursor's covers would leave a digit beside it. */
        int start = x - (length - 1) / 2;
        start = chart->x_names && start < left ? left : start;
        const int room = left + plot->inside.w + plot->end_room - start;
        if (start >= end || start + length <= taken)
            surface_text(surface, floor_row + 1, start, length < room ? length : room, STYLE_LABEL,
                         text);
    }
    for (int i = 0; i < chart->mark_count; i++)
        if (chart->marks[i] >= plot->x_low && chart->marks[i] <= plot->x_high)
            surface_glyph(surface, floor_row,
                          left + plot_column(plot, plot_dot_x(plot, chart->marks[i])),
                          GLYPH_AXIS_MARK, STYLE_STRONG);
}

/* A rule at the cursor, under the curves, and where it stands in place of the x axis' labels. */
static void draw_cursor(const struct plot *plot, struct surface *surface, const struct chart *chart)
{
    struct figure text;
    int start;
    if (!cursor_label(plot, chart, &text, &start))
        return;
    int x = plot->inside.x + plot_column(plot, plot_dot_x(plot, chart->cursor));
    for (int y = 0; y < plot->inside.h; y++)
        surface_glyph(surface, plot->inside.y + y, x, GLYPH_RULE, STYLE_LABEL);
    surface_text(surface, plot->inside.y + plot->inside.h + 1, start, text_columns(text.text),
                 STYLE_CURSOR, text.text);
}

/* The rows and columns left for curves; false when there are too few. */
static bool place(struct plot *plot, const struct chart *chart, struct rect area)
{
    plot->end_room = END_LABEL;
    for (int i = 0; i < chart->count; i++) {
        struct series_name name;
        int length = text_columns(series_name(&chart->series[i], &name)) + 1;
        if (length > plot->end_room && series_last_point(&chart->series[i]))
            plot->end_room = length < LONGEST_LABEL ? length : LONGEST_LABEL;
    }
    plot->inside =
        (struct rect){area.y + 1, area.x + LEFT, area.h - 3, area.w - LEFT - plot->end_room - 1};
    if (plot->inside.h < 2 || plot->inside.w < 8)
        return false;
    plot->y = chart_y_ticks(chart, plot->inside.h / ROWS_A_TICK + 2);
    plot->y_low = plot->y.low;
    plot->y_high = plot->y.high;
    plot->x_low = chart->x_low;
    plot->x_high = chart->x_high > chart->x_low ? chart->x_high : chart->x_low + 1;
    plot->x =
        ticks_inside(plot->x_low, plot->x_high, plot->inside.w / x_columns(chart, plot->x_high) + 1,
                     chart->x_fractions ? 1e-6 : 1);
    return true;
}

static bool draw_plot(struct plot *plot, const struct chart *chart, struct surface *surface,
                      struct error *err)
{
    if (!canvas_open(&plot->canvas, plot->inside.h, plot->inside.w, chart_canvas(chart, surface),
                     err))
        return false;
    draw_y_axis(plot, surface, chart);
    draw_x_axis(plot, surface, chart);
    draw_cursor(plot, surface, chart);
    for (int i = 0; i < chart->count; i++)
        draw_curve(plot, &chart->series[i], i % 255 + 1);
    canvas_show(&plot->canvas, surface, plot->inside.y, plot->inside.x);
    for (int i = 0; i < chart->count; i++) {
        draw_points(plot, surface, &chart->series[i]);
        draw_beyond(plot, surface, &chart->series[i]);
    }
    draw_end_labels(plot, surface, chart);
    canvas_close(&plot->canvas);
    return true;
}

/* Has the y axis values that are not made up? Those of curves in sight, or fixed ones. */
static bool has_axis(const struct chart *chart)
{
    double low, high;
    bool known = false;
    for (int i = 0; i < chart->count; i++)
        known = known || series_last_point(&chart->series[i]);
    return chart->fixed ? known : chart_range(chart, &low, &high);
}

bool chart_draw(const struct chart *chart, struct surface *surface, struct rect area,
                struct error *err)
{
    struct plot plot;
    const bool any = has_axis(chart);
    /* A value that is read matters more than the end of a long title. */
    const int kept = any && chart->reading ? legend_least(chart, surface) + LEGEND_GAP : 0;
    const int most = area.w - kept > TITLE_LEAST ? area.w - kept : TITLE_LEAST;
    int used = surface_text(surface, area.y, area.x, most < area.w ? most : area.w,
                            chart->focused ? STYLE_FOCUS : STYLE_LABEL, chart->title);
    if (!any && chart->advice)
        surface_paragraph(surface, (struct rect){area.y + 2, area.x + 2, area.h - 2, area.w - 4},
                          STYLE_NORMAL, chart->advice);
    if (!any || !place(&plot, chart, area))
        return true;
    draw_legend(chart, surface, area.y, area.x + used + LEGEND_GAP, area.x + area.w);
    return draw_plot(&plot, chart, surface, err);
}

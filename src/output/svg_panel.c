/* SPDX-License-Identifier: MIT */
#include "output/svg_panel.h"

#include <math.h>

/* Room around the axes: for title and legend, the numbers, the names below. */
enum { LEGEND_TOP = 40, LEGEND_LINE = 18, ROOM_LEFT = 78, ROOM_RIGHT = 18, ROOM_BOTTOM = 48 };
/* Lines in the legend at least; panels side by side then are of one height. */
enum { LEGEND_LINES = 2 };
/* Figures on the y axis. */
#define TICKS_MOST 8

static void widen(double *low, double *high, double value)
{
    if (isfinite(value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

/* From the first place to the last, with some room on both sides. */
static void span_x(const struct svg_panel *panel, struct svg_frame *frame)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < panel->count; i++)
        widen(&low, &high, panel->places[i]);
    if (low > high)
        low = high = 0;
    double room = high > low ? (high - low) * 0.08 : 1;
    frame->x_low = low - room;
    frame->x_high = high + room;
}

static struct ticks span_y(const struct svg_panel *panel, struct svg_frame *frame)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < panel->series_count; i++) {
        const struct svg_series *series = &panel->series[i];
        for (size_t j = 0; j < panel->count; j++) {
            widen(&low, &high, series->y[j]);
            if (series->low) {
                widen(&low, &high, series->low[j]);
                widen(&low, &high, series->high[j]);
            }
        }
    }
    if (panel->from_zero)
        widen(&low, &high, 0);
    struct ticks ticks = ticks_around(low, high, TICKS_MOST);
    frame->y_low = ticks.first;
    frame->y_high = ticks.first + (ticks.count - 1) * ticks.step;
    return ticks;
}

static void put_bars(struct text *out, const struct svg_frame *frame, const struct svg_panel *panel,
                     const struct svg_series *series)
{
    text_puts(out, "<path class=\"bar\" d=\"");
    for (size_t i = 0; i < panel->count; i++) {
        if (!isfinite(series->x[i]) || !isfinite(series->low[i]) || !isfinite(series->high[i]))
            continue;
        double x = svg_x(frame, series->x[i]);
        double low = svg_y(frame, series->low[i]), high = svg_y(frame, series->high[i]);
        text_printf(out, "M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8", x, low, high, x - 4, low, x - 4,
                    high);
    }
    text_puts(out, "\"/>");
}

static void put_series(struct text *out, const struct svg_frame *frame,
                       const struct svg_panel *panel, const struct svg_series *series)
{
    struct svg_pen pen;
    svg_curve_begin(out, series->index, series->name);
    svg_line_begin(out, &pen, series->index);
    for (size_t i = 0; i < panel->count; i++)
        svg_line_to(out, &pen, frame, series->x[i], series->y[i]);
    svg_line_end(out);
    if (series->low) {
        put_bars(out, frame, panel, series);
        for (size_t i = 0; i < panel->count; i++)
            svg_dot(out, frame, series->x[i], series->y[i]);
    }
    svg_curve_end(out);
}

static void put_legend(struct text *out, const struct svg_panel *panel, double left, double top)
{
    for (size_t i = 0; i < panel->series_count; i++) {
        double y = top + (double)i * LEGEND_LINE;
        svg_legend_line(out, panel->series[i].index, left, y, 28);
        svg_label(out, "name", left + 36, y + 4.5, panel->series[i].name);
    }
}

void svg_panel_draw(struct text *out, const struct svg_panel *panel, double left, double top,
                    double width, double height)
{
    size_t legend = panel->series_count > LEGEND_LINES ? panel->series_count : LEGEND_LINES;
    struct svg_frame frame = {.left = left + ROOM_LEFT,
                              .right = left + width - ROOM_RIGHT,
                              .top = top + LEGEND_TOP + (double)legend * LEGEND_LINE,
                              .bottom = top + height - ROOM_BOTTOM};
    double middle = (frame.left + frame.right) / 2;
    span_x(panel, &frame);
    struct ticks y = span_y(panel, &frame);
    svg_label(out, "middle", middle, top + 18, panel->title);
    svg_axes(out, &frame, &y);
    for (size_t i = 0; i < panel->count; i++)
        svg_x_mark(out, &frame, panel->places[i], panel->names[i]);
    for (size_t i = 0; i < panel->series_count; i++)
        put_series(out, &frame, panel, &panel->series[i]);
    put_legend(out, panel, frame.left, top + LEGEND_TOP);
    svg_label(out, "faint middle", middle, top + height - 8, panel->x_label);
    svg_label_upwards(out, "faint middle", left + 16, (frame.top + frame.bottom) / 2,
                      panel->y_label);
}

/* SPDX-License-Identifier: MIT */
#include "output/svg_chart.h"
#include "ui/chart/scale.h"

#include <math.h>
#include <stdlib.h>

/* In units of the picture. */
enum {
    WIDTH = 860,
    LEFT = 78,
    RIGHT = 836,
    TOP = 52,
    BOTTOM = 412,
    LEGEND = 474, /* its first line's middle */
    LINE = 22,
    MARGIN = 14,
    DOTS_MOST = 60 /* a curve of so few points has a dot at each */
};

static void put_curve(const struct svg_frame *frame, const struct svg_curve *curve, int index,
                      struct text *out)
{
    struct svg_pen pen;
    svg_curve_begin(out, index, curve->name);
    svg_line_begin(out, &pen, index);
    for (int i = 0; i < curve->count; i++)
        svg_line_to(out, &pen, frame, curve->points[i].x, curve->points[i].y);
    svg_line_end(out);
    for (int i = 0; i < curve->count && curve->count <= DOTS_MOST; i++)
        svg_dot(out, frame, curve->points[i].x, curve->points[i].y);
    svg_curve_end(out);
}

static void put_legend(const struct svg_chart *chart, struct text *out)
{
    for (int i = 0; i < chart->count; i++) {
        int y = LEGEND + i * LINE;
        svg_legend_line(out, i, LEFT, y, 44);
        svg_label(out, "name", LEFT + 54, y + 4.5, chart->curves[i].name);
    }
}

/* What the axes need to be drawn. */
struct axes {
    struct svg_frame frame;
    struct ticks x, y;
};

/* The axes for these curves, as the workbench's chart has them. */
static bool make_axes(const struct svg_chart *chart, struct axes *axes, struct error *err)
{
    struct chart_series *series = calloc((size_t)chart->count + 1, sizeof *series);
    if (!series)
        return error_memory(err, "picture");
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < chart->count; i++) {
        const struct svg_curve *curve = &chart->curves[i];
        series[i] = (struct chart_series){.points = curve->points, .count = curve->count};
        if (curve->count > 0) {
            low = fmin(low, curve->points[0].x);
            high = fmax(high, curve->points[curve->count - 1].x);
        }
    }
    struct svg_frame *frame = &axes->frame;
    *frame = (struct svg_frame){.left = LEFT, .right = RIGHT, .top = TOP, .bottom = BOTTOM};
    frame->x_low = low >= 1 && isfinite(low) ? floor(low) : 0;
    frame->x_high = high > frame->x_low ? high : frame->x_low + 1;
    const struct chart wanted = {.x_low = frame->x_low,
                                 .x_high = frame->x_high,
                                 .y_floor = 0,
                                 .y_top = chart->top,
                                 .may_diverge = chart->may_diverge,
                                 .series = series,
                                 .count = chart->count};
    axes->x = ticks_inside(frame->x_low, frame->x_high, 12, frame->x_high < 3 ? 0 : 1);
    axes->y = chart_y_ticks(&wanted, 8);
    frame->y_low = axes->y.first;
    frame->y_high = axes->y.first + (axes->y.count - 1) * axes->y.step;
    free(series);
    return true;
}

bool svg_chart_draw(const struct svg_chart *chart, struct text *out, struct error *err)
{
    struct axes axes;
    int height = LEGEND + (chart->count - 1) * LINE + LINE / 2 + MARGIN;
    if (chart->count > SVG_CURVES_MOST)
        return error_set(err, ERROR_USAGE, "a picture can show at most %d curves", SVG_CURVES_MOST);
    if (!make_axes(chart, &axes, err))
        return false;
    svg_begin(out, WIDTH, height, chart->title);
    svg_label(out, "title", LEFT, 26, chart->title);
    svg_axes(out, &axes.frame, &axes.y);
    svg_x_ticks(out, &axes.frame, &axes.x);
    svg_label(out, "faint middle", (LEFT + RIGHT) / 2.0, BOTTOM + 38, chart->x_label);
    /* What a diverging loss does above the axis is not seen. */
    text_printf(out,
                "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                "</clipPath>\n<g clip-path=\"url(#plot)\">\n",
                LEFT - 4, TOP - 4, RIGHT - LEFT + 8, BOTTOM - TOP + 8);
    for (int i = 0; i < chart->count; i++)
        put_curve(&axes.frame, &chart->curves[i], i, out);
    text_puts(out, "</g>\n");
    put_legend(chart, out);
    svg_end(out);
    return true;
}

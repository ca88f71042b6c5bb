/* SPDX-License-Identifier: MIT */
#include "svg_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In units of the picture, which scales to any size. */
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

/*
 * After Okabe and Ito, "Color Universal Design", 2008; darkened for white paper. Without style
 * sheets, or where no preference is known, the picture is light.
 */
static const char *const light[] = {"#0072b2", "#c14f00", "#00795a",
                                    "#a8467f", "#7d6300", "#4a4a4a"};
static const char *const dark[] = {"#56b4e9", "#ff9142", "#2cc295",
                                   "#e59bc5", "#f0e442", "#d8d8d8"};
/* As many as have no divisor in common with the number of colours. */
static const char *const dashes[] = {"none", "9 4", "2 4", "12 4 2 4", "16 7"};
enum {
    COLOURS = sizeof light / sizeof *light,
    DASHES = sizeof dashes / sizeof *dashes,
};
_Static_assert(COLOURS *DASHES == SVG_CURVES_MOST, "SVG_CURVES_MOST");

struct frame {
    struct ticks x, y;
    double x_low, x_high, y_low, y_high;
};

static double place_x(const struct frame *frame, double x)
{
    return LEFT + (x - frame->x_low) / (frame->x_high - frame->x_low) * (RIGHT - LEFT);
}

/* Not so far out that a number no reader of SVG knows would come of it. */
static double place_y(const struct frame *frame, double y)
{
    double place = BOTTOM - (y - frame->y_low) / (frame->y_high - frame->y_low) * (BOTTOM - TOP);
    return fmin(fmax(place, -10 * WIDTH), 10 * WIDTH);
}

/* Text between tags: what XML 1.0 cannot hold (controls, U+FFFE and U+FFFF) becomes '?'. */
static void put_text(struct text *out, const char *text)
{
    for (size_t i = 0; text[i]; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool no_character =
            strncmp(text + i, "\xef\xbf\xbe", 3) == 0 || strncmp(text + i, "\xef\xbf\xbf", 3) == 0;
        if (byte == '&')
            text_puts(out, "&amp;");
        else if (byte == '<')
            text_puts(out, "&lt;");
        else if (byte == '>')
            text_puts(out, "&gt;");
        else if (byte < 0x20 || no_character)
            text_puts(out, "?");
        else
            text_append(out, text + i, 1);
        i += no_character ? 2 : 0;
    }
}

static void put_label(struct text *out, const char *place, double x, double y, const char *text)
{
    text_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", place, x, y);
    put_text(out, text);
    text_puts(out, "</text>\n");
}

static void put_shade(struct text *out, const char *ground, const char *ink, const char *faint,
                      const char *grid, const char *const *colours)
{
    text_printf(out,
                ".ground{fill:%s}text{fill:%s}.faint{fill:%s}.grid{stroke:%s}.axis{stroke:%s}\n",
                ground, ink, faint, grid, faint);
    for (int i = 0; i < COLOURS; i++)
        text_printf(out, ".c%d{stroke:%s}.c%d circle{fill:%s}\n", i, colours[i], i, colours[i]);
}

static void put_style(struct text *out)
{
    text_puts(out, "<style>\n"
                   "text{font:13px system-ui,sans-serif}.title{font-size:17px;font-weight:600}\n"
                   ".middle{text-anchor:middle}.end{text-anchor:end}\n"
                   ".curve{fill:none;stroke-width:2;stroke-linejoin:round}.curve "
                   "circle{stroke:none}\n"
                   ".grid,.axis{stroke-width:1;fill:none}\n");
    for (int i = 0; i < DASHES; i++)
        text_printf(out, ".d%d{stroke-dasharray:%s}\n", i, dashes[i]);
    put_shade(out, "#ffffff", "#1a1a1a", "#5c5c5c", "#e3e3e3", light);
    text_puts(out, "@media (prefers-color-scheme:dark){\n");
    put_shade(out, "#16181c", "#f0f0f0", "#a9adb4", "#33373e", dark);
    text_puts(out, "}\n</style>\n");
}

static void put_axes(const struct frame *frame, const struct svg_chart *chart, struct text *out)
{
    char label[64];
    text_puts(out, "<path class=\"grid\" d=\"");
    for (int i = 0; i < frame->y.count; i++)
        text_printf(out, "M%d %.1fH%d", LEFT, place_y(frame, frame->y.first + i * frame->y.step),
                    RIGHT);
    text_puts(out, "\"/>\n<path class=\"axis\" d=\"");
    for (int i = 0; i < frame->x.count; i++)
        text_printf(out, "M%.1f %dv5", place_x(frame, frame->x.first + i * frame->x.step), BOTTOM);
    text_printf(out, "M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM, RIGHT);
    for (int i = 0; i < frame->y.count; i++) {
        double y = frame->y.first + i * frame->y.step;
        snprintf(label, sizeof label, "%.*f", frame->y.decimals, y);
        put_label(out, "faint end", LEFT - 8, place_y(frame, y) + 4.5, label);
    }
    for (int i = 0; i < frame->x.count; i++) {
        double x = frame->x.first + i * frame->x.step;
        snprintf(label, sizeof label, "%.*f", frame->x.decimals, x);
        put_label(out, "faint middle", place_x(frame, x), BOTTOM + 20, label);
    }
    put_label(out, "title", LEFT, 26, chart->title);
    put_label(out, "faint middle", (LEFT + RIGHT) / 2.0, BOTTOM + 38, chart->x_label);
}

static void put_curve(const struct frame *frame, const struct svg_curve *curve, int index,
                      struct text *out)
{
    bool pen_down = false;
    text_printf(out, "<g class=\"curve c%d\" clip-path=\"url(#plot)\"><title>", index % COLOURS);
    put_text(out, curve->name);
    text_printf(out, "</title><path class=\"d%d\" d=\"", index % DASHES);
    for (int i = 0; i < curve->count; i++) {
        const struct chart_point *point = &curve->points[i];
        if (isfinite(point->y))
            text_printf(out, "%c%.1f %.1f", pen_down ? 'L' : 'M', place_x(frame, point->x),
                        place_y(frame, point->y));
        pen_down = isfinite(point->y);
    }
    text_puts(out, "\"/>");
    for (int i = 0; i < curve->count && curve->count <= DOTS_MOST; i++)
        if (isfinite(curve->points[i].y))
            text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
                        place_x(frame, curve->points[i].x), place_y(frame, curve->points[i].y));
    text_puts(out, "</g>\n");
}

static void put_legend(const struct svg_chart *chart, struct text *out)
{
    for (int i = 0; i < chart->count; i++) {
        int y = LEGEND + i * LINE;
        text_printf(out, "<g class=\"curve c%d\"><path class=\"d%d\" d=\"M%d %dh44\"/></g>",
                    i % COLOURS, i % DASHES, LEFT, y);
        put_label(out, "name", LEFT + 54, y + 4.5, chart->curves[i].name);
    }
}

/* The axes for these curves, as the workbench's chart has them. */
static bool make_frame(const struct svg_chart *chart, struct frame *frame, struct error *err)
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
    frame->x_low = low >= 1 && isfinite(low) ? floor(low) : 0;
    frame->x_high = high > frame->x_low ? high : frame->x_low + 1;
    const struct chart axes = {.x_low = frame->x_low,
                               .x_high = frame->x_high,
                               .y_floor = 0,
                               .y_top = chart->top,
                               .may_diverge = chart->may_diverge,
                               .series = series,
                               .count = chart->count};
    frame->x = ticks_inside(frame->x_low, frame->x_high, 12, frame->x_high < 3 ? 0 : 1);
    frame->y = chart_y_ticks(&axes, 8);
    frame->y_low = frame->y.first;
    frame->y_high = frame->y.first + (frame->y.count - 1) * frame->y.step;
    free(series);
    return true;
}

bool svg_chart_draw(const struct svg_chart *chart, struct text *out, struct error *err)
{
    struct frame frame = {.x_low = 0};
    int height = LEGEND + (chart->count - 1) * LINE + LINE / 2 + MARGIN;
    if (chart->count > SVG_CURVES_MOST)
        return error_set(err, ERROR_USAGE, "a picture can tell no more than %d curves apart",
                         SVG_CURVES_MOST);
    if (!make_frame(chart, &frame, err))
        return false;
    text_printf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" role=\"img\">\n<title>",
                WIDTH, height, WIDTH, height);
    put_text(out, chart->title);
    text_puts(out, "</title>\n");
    put_style(out);
    text_printf(out,
                "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
                "</clipPath>\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
                LEFT - 4, TOP - 4, RIGHT - LEFT + 8, BOTTOM - TOP + 8);
    put_axes(&frame, chart, out);
    for (int i = 0; i < chart->count; i++)
        put_curve(&frame, &chart->curves[i], i, out);
    put_legend(chart, out);
    text_puts(out, "</svg>\n");
    return true;
}

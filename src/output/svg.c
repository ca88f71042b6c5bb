/* SPDX-License-Identifier: MIT */
#include "output/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

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
static const char *const dash_classes[] = {"d0", "d1", "d2", "d3", "d4"};
enum {
    COLOURS = sizeof light / sizeof *light,
    DASHES = sizeof dashes / sizeof *dashes,
};
_Static_assert(COLOURS *DASHES == SVG_CURVES_MOST, "SVG_CURVES_MOST");
_Static_assert(DASHES == sizeof dash_classes / sizeof *dash_classes, "dash_classes");

/* Farther out no point is drawn. */
#define FAR 10000

/* Text between tags. */
static void put_text(struct text *out, const char *words)
{
    char shown[ESCAPE_BYTES];
    while (*words) {
        escape_next(&words, shown);
        text_puts(out, strcmp(shown, "&") == 0   ? "&amp;"
                       : strcmp(shown, "<") == 0 ? "&lt;"
                       : strcmp(shown, ">") == 0 ? "&gt;"
                                                 : shown);
    }
}

static void put_shade(struct text *out, const char *ground, const char *ink, const char *faint,
                      const char *grid, const char *const *colours)
{
    text_printf(out,
                ".ground{fill:%s}text{fill:%s}.faint{fill:%s}.grid{stroke:%s}.axis,.guide{stroke:"
                "%s}\n",
                ground, ink, faint, grid, faint);
    for (int i = 0; i < COLOURS; i++)
        text_printf(out, ".c%d{stroke:%s}.c%d circle,.c%d rect{fill:%s}\n", i, colours[i], i, i,
                    colours[i]);
}

static void put_style(struct text *out)
{
    text_puts(out, "<style>\n"
                   "text{font:13px system-ui,sans-serif}.title{font-size:17px;font-weight:600}\n"
                   ".middle{text-anchor:middle}.end{text-anchor:end}\n"
                   ".curve{fill:none;stroke-width:2;stroke-linejoin:round}.curve "
                   "circle,.curve rect{stroke:none}\n"
                   ".grid,.axis,.guide,.bar{stroke-width:1;fill:none}\n");
    for (int i = 0; i < DASHES; i++)
        text_printf(out, ".d%d{stroke-dasharray:%s}\n", i, dashes[i]);
    put_shade(out, "#ffffff", "#1a1a1a", "#5c5c5c", "#e3e3e3", light);
    text_puts(out, "@media (prefers-color-scheme:dark){\n");
    put_shade(out, "#16181c", "#f0f0f0", "#a9adb4", "#33373e", dark);
    text_puts(out, "}\n</style>\n");
}

void svg_begin(struct text *out, int width, int height, const char *title)
{
    text_printf(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" role=\"img\">\n<title>",
                width, height, width, height);
    put_text(out, title);
    text_puts(out, "</title>\n");
    put_style(out);
    text_puts(out, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
}

void svg_end(struct text *out)
{
    text_puts(out, "</svg>\n");
}

void svg_label(struct text *out, const char *look, double x, double y, const char *words)
{
    text_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", look, x, y);
    put_text(out, words);
    text_puts(out, "</text>\n");
}

void svg_label_upwards(struct text *out, const char *look, double x, double y, const char *words)
{
    text_printf(out, "<g transform=\"rotate(-90 %.1f %.1f)\">", x, y);
    svg_label(out, look, x, y, words);
    text_puts(out, "</g>\n");
}

static void open_group(struct text *out, int index)
{
    if (index == SVG_GUIDE)
        text_puts(out, "<g class=\"guide\">");
    else
        text_printf(out, "<g class=\"curve c%d\">", index % COLOURS);
}

void svg_curve_begin(struct text *out, int index, const char *name)
{
    open_group(out, index);
    text_puts(out, "<title>");
    put_text(out, name);
    text_puts(out, "</title>");
}

void svg_curve_end(struct text *out)
{
    text_puts(out, "</g>\n");
}

void svg_box(struct text *out, double x, double y, double width, double height)
{
    text_printf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>", x, y, width,
                height);
}

/* The class of a curve's line. */
static const char *line_class(int index)
{
    return dash_classes[index == SVG_GUIDE ? 1 : index % DASHES];
}

void svg_legend_line(struct text *out, int index, double x, double y, double length)
{
    open_group(out, index);
    text_printf(out, "<path class=\"%s\" d=\"M%.1f %.1fh%.1f\"/></g>\n", line_class(index), x, y,
                length);
}

double svg_x(const struct svg_frame *frame, double x)
{
    return frame->left +
           (x - frame->x_low) / (frame->x_high - frame->x_low) * (frame->right - frame->left);
}

double svg_y(const struct svg_frame *frame, double y)
{
    double place = frame->bottom - (y - frame->y_low) / (frame->y_high - frame->y_low) *
                                       (frame->bottom - frame->top);
    return fmin(fmax(place, -FAR), FAR);
}

void svg_axes(struct text *out, const struct svg_frame *frame, const struct ticks *y)
{
    char number[64];
    text_puts(out, "<path class=\"grid\" d=\"");
    for (int i = 0; i < y->count; i++)
        text_printf(out, "M%.1f %.1fH%.1f", frame->left, svg_y(frame, y->first + i * y->step),
                    frame->right);
    text_printf(out, "\"/>\n<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", frame->left,
                frame->top, frame->bottom, frame->right);
    for (int i = 0; i < y->count; i++) {
        double at = y->first + i * y->step;
        snprintf(number, sizeof number, "%.*f", y->decimals, at);
        svg_label(out, "faint end", frame->left - 8, svg_y(frame, at) + 4.5, number);
    }
}

void svg_x_mark(struct text *out, const struct svg_frame *frame, double x, const char *words)
{
    text_printf(out, "<path class=\"axis\" d=\"M%.1f %.1fv5\"/>", svg_x(frame, x), frame->bottom);
    svg_label(out, "faint middle", svg_x(frame, x), frame->bottom + 20, words);
}

void svg_x_ticks(struct text *out, const struct svg_frame *frame, const struct ticks *ticks)
{
    char number[64];
    for (int i = 0; i < ticks->count; i++) {
        double x = ticks->first + i * ticks->step;
        snprintf(number, sizeof number, "%.*f", ticks->decimals, x);
        svg_x_mark(out, frame, x, number);
    }
}

void svg_line_begin(struct text *out, struct svg_pen *pen, int index)
{
    pen->down = false;
    text_printf(out, "<path class=\"%s\" d=\"", line_class(index));
}

void svg_line_to(struct text *out, struct svg_pen *pen, const struct svg_frame *frame, double x,
                 double y)
{
    bool drawn = isfinite(x) && isfinite(y);
    if (drawn)
        text_printf(out, "%c%.1f %.1f", pen->down ? 'L' : 'M', svg_x(frame, x), svg_y(frame, y));
    pen->down = drawn;
}

void svg_line_end(struct text *out)
{
    text_puts(out, "\"/>");
}

void svg_dot(struct text *out, const struct svg_frame *frame, double x, double y)
{
    if (isfinite(x) && isfinite(y))
        text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", svg_x(frame, x),
                    svg_y(frame, y));
}

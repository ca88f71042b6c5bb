/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Room around the axes: for the title, the figures, the label below. */
enum { ROOM_TOP = 30, ROOM_LEFT = 70, ROOM_RIGHT = 16, ROOM_BOTTOM = 46, LEGEND_LINE = 15 };

/* Okabe and Ito, "Color Universal Design" (2008). */
static const char *const palette[SVG_PALETTE] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#a6761d"};

/* The drawing of one panel: its axes in pixels and what they span. */
struct frame {
    struct text *out;
    double left, right, top, bottom;
    double x_low, x_high, y_low, y_high;
};

static const char *colour_of(const struct svg_series *series)
{
    return series->colour < 0 ? "#888888" : palette[series->colour % SVG_PALETTE];
}

/* Bytes of the UTF-8 character at `at` that XML allows; 0: it does not. */
static size_t character(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    size_t length = byte[0] < 0x80   ? 1
                    : byte[0] < 0xc2 ? 0
                    : byte[0] < 0xe0 ? 2
                    : byte[0] < 0xf0 ? 3
                    : byte[0] < 0xf5 ? 4
                                     : 0;
    if (length == 1)
        return byte[0] >= ' ' && byte[0] != 0x7f;
    uint32_t code = length ? byte[0] & (0xffU >> (length + 1)) : 0;
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3f);
    }
    bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    if (overlong || code < 0xa0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
        code == 0xfffe || code == 0xffff)
        return 0;
    return length;
}

static void put_escaped(struct text *out, const char *words)
{
    for (const char *at = words; *at;) {
        size_t length = character(at);
        if (*at == '&')
            text_puts(out, "&amp;");
        else if (*at == '<')
            text_puts(out, "&lt;");
        else if (*at == '>')
            text_puts(out, "&gt;");
        else if (length == 0)
            text_puts(out, "?");
        else
            text_append(out, at, length);
        at += length ? length : 1;
    }
}

static void put_words(struct text *out, const char *words, double x, double y, double size,
                      const char *anchor, const char *more)
{
    text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\"%s>", x, y,
                size, anchor, more);
    put_escaped(out, words);
    text_puts(out, "</text>\n");
}

static void put_line(struct text *out, double x1, double y1, double x2, double y2,
                     const char *colour)
{
    text_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1,
                y1, x2, y2, colour);
}

void svg_begin(struct text *out, double width, double height)
{
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%.0f\" "
                "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                width, height, width, height);
}

void svg_words(struct text *out, const char *words, double left, double top, double size)
{
    put_words(out, words, left, top, size, "start", "");
}

void svg_end(struct text *out)
{
    text_puts(out, "</svg>\n");
}

static void widen(double *low, double *high, double value)
{
    if (isfinite(value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

/* An axis of some length, also around a single value or none. */
static void settle(double *low, double *high)
{
    if (*low > *high)
        *low = 0, *high = 1;
    if (*high - *low < 1e-9 * fmax(fabs(*low), fabs(*high)) || *high == *low) {
        double half = *high == 0 ? 0.5 : fabs(*high) / 10;
        *low -= half;
        *high += half;
    }
}

static void span(struct frame *frame, const struct svg_panel *chart)
{
    frame->x_low = frame->y_low = INFINITY;
    frame->x_high = frame->y_high = -INFINITY;
    for (size_t i = 0; i < chart->series_count; i++) {
        const struct svg_series *series = &chart->series[i];
        for (size_t j = 0; j < series->count; j++) {
            widen(&frame->x_low, &frame->x_high, series->x[j]);
            widen(&frame->y_low, &frame->y_high, series->y[j]);
            if (series->low && series->high) {
                widen(&frame->y_low, &frame->y_high, series->low[j]);
                widen(&frame->y_low, &frame->y_high, series->high[j]);
            }
        }
    }
    for (size_t i = 0; i < chart->tick_count; i++)
        widen(&frame->x_low, &frame->x_high, chart->ticks[i]);
    if (chart->from_zero)
        widen(&frame->y_low, &frame->y_high, 0);
    settle(&frame->x_low, &frame->x_high);
    settle(&frame->y_low, &frame->y_high);
    double room = (frame->y_high - frame->y_low) * 0.06;
    frame->y_high += room;
    if (!chart->from_zero)
        frame->y_low -= room;
    if (chart->tick_count > 0) {
        room = (frame->x_high - frame->x_low) * 0.06;
        frame->x_low -= room;
        frame->x_high += room;
    }
}

static double at_x(const struct frame *frame, double value)
{
    return frame->left +
           (value - frame->x_low) / (frame->x_high - frame->x_low) * (frame->right - frame->left);
}

static double at_y(const struct frame *frame, double value)
{
    return frame->bottom -
           (value - frame->y_low) / (frame->y_high - frame->y_low) * (frame->bottom - frame->top);
}

/* The distance of some five round numbers: 1, 2 or 5 times a power of ten. */
static double round_step(double length)
{
    double power = pow(10, floor(log10(length / 5))), digit = length / 5 / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void put_number(char *buffer, size_t size, double value, double step)
{
    snprintf(buffer, size, "%.10g", fabs(value) < step / 1e3 ? 0 : value);
}

static void put_y_axis(const struct frame *frame)
{
    char number[40];
    double step = round_step(frame->y_high - frame->y_low);
    for (double at = ceil(frame->y_low / step); at * step <= frame->y_high; at++) {
        double y = at_y(frame, at * step);
        put_line(frame->out, frame->left, y, frame->right, y, "#dddddd");
        put_number(number, sizeof number, at * step, step);
        put_words(frame->out, number, frame->left - 6, y + 4, 11, "end", "");
    }
}

static void put_x_tick(const struct frame *frame, double value, const char *words)
{
    double x = at_x(frame, value);
    put_line(frame->out, x, frame->bottom, x, frame->bottom + 4, "#444444");
    put_words(frame->out, words, x, frame->bottom + 17, 11, "middle", "");
}

static void put_x_axis(const struct frame *frame, const struct svg_panel *chart)
{
    char number[40];
    double step = round_step(frame->x_high - frame->x_low);
    for (size_t i = 0; i < chart->tick_count; i++)
        put_x_tick(frame, chart->ticks[i], chart->tick_names[i]);
    if (chart->tick_count > 0)
        return;
    for (double at = ceil(frame->x_low / step); at * step <= frame->x_high; at++) {
        put_number(number, sizeof number, at * step, step);
        put_x_tick(frame, at * step, number);
    }
}

static bool is_drawn(const struct svg_series *series, size_t index)
{
    return isfinite(series->x[index]) && isfinite(series->y[index]);
}

static void put_lines(const struct frame *frame, const struct svg_series *series)
{
    bool open = false;
    for (size_t i = 0; i < series->count; i++) {
        bool drawn = is_drawn(series, i);
        if (drawn && !open)
            text_printf(frame->out,
                        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s points=\"",
                        colour_of(series), series->dashed ? "1" : "2",
                        series->dashed ? " stroke-dasharray=\"5 4\"" : "");
        if (drawn)
            text_printf(frame->out, "%.1f,%.1f ", at_x(frame, series->x[i]),
                        at_y(frame, series->y[i]));
        else if (open)
            text_puts(frame->out, "\"/>\n");
        open = drawn;
    }
    if (open)
        text_puts(frame->out, "\"/>\n");
}

static void put_marks(const struct frame *frame, const struct svg_series *series)
{
    const char *colour = colour_of(series);
    for (size_t i = 0; i < series->count; i++) {
        if (!is_drawn(series, i))
            continue;
        double x = at_x(frame, series->x[i]);
        if (series->low && series->high && isfinite(series->low[i]) && isfinite(series->high[i])) {
            double low = at_y(frame, series->low[i]), high = at_y(frame, series->high[i]);
            put_line(frame->out, x, low, x, high, colour);
            put_line(frame->out, x - 4, low, x + 4, low, colour);
            put_line(frame->out, x - 4, high, x + 4, high, colour);
        }
        if (series->marks)
            text_printf(frame->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n", x,
                        at_y(frame, series->y[i]), colour);
    }
}

/* In the corner at the upper left, over the lines. */
static void put_legend(const struct frame *frame, const struct svg_panel *chart)
{
    double y = frame->top + 14;
    for (size_t i = 0; i < chart->series_count; i++) {
        const struct svg_series *series = &chart->series[i];
        if (!series->name)
            continue;
        text_printf(frame->out,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                    "stroke-width=\"2\"%s/>\n",
                    frame->left + 8, y - 4, frame->left + 28, y - 4, colour_of(series),
                    series->dashed ? " stroke-dasharray=\"5 4\"" : "");
        put_words(frame->out, series->name, frame->left + 34, y, 11, "start", "");
        y += LEGEND_LINE;
    }
}

void svg_panel(struct text *out, const struct svg_panel *chart, double left, double top,
               double width, double height)
{
    struct frame frame = {.out = out,
                          .left = left + ROOM_LEFT,
                          .right = left + width - ROOM_RIGHT,
                          .top = top + ROOM_TOP,
                          .bottom = top + height - ROOM_BOTTOM};
    char turn[80];
    span(&frame, chart);
    put_words(out, chart->title, left + width / 2, top + 18, 14, "middle", "");
    put_y_axis(&frame);
    put_x_axis(&frame, chart);
    text_printf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
                "stroke=\"#444444\"/>\n",
                frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
    for (size_t i = 0; i < chart->series_count; i++) {
        put_lines(&frame, &chart->series[i]);
        put_marks(&frame, &chart->series[i]);
    }
    put_legend(&frame, chart);
    put_words(out, chart->x_label, (frame.left + frame.right) / 2, top + height - 8, 12, "middle",
              "");
    double middle = (frame.top + frame.bottom) / 2;
    snprintf(turn, sizeof turn, " transform=\"rotate(-90 %.1f %.1f)\"", left + 14, middle);
    put_words(out, chart->y_label, left + 14, middle, 12, "middle", turn);
}

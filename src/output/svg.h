/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/text.h"
#include "ui/chart/chart.h"
#include "ui/chart/scale.h"

/*
 * What pictures are made of: SVG 1.1 that needs nothing else, on a light or a dark ground as the
 * reader likes it. Curves differ by colour, for the colour-blind too, and by their dashes. Pure:
 * the picture grows in a `struct text`, which remembers a failed allocation. Text of any origin is
 * made harmless: markup is escaped, what XML 1.0 does not allow becomes '?'. Lengths are in units
 * of the picture, which scales to any size.
 */

/* How many curves look different. */
#define SVG_CURVES_MOST 30

/* A curve that others are compared with, in place of a curve's index: thin and grey. */
#define SVG_GUIDE (-1)

/* `title` is for readers that name pictures; it is not drawn. */
void svg_begin(struct text *out, int width, int height, const char *title);
void svg_end(struct text *out);

/*
 * A line of text; `look` is of "title", "faint", "middle" and "end" (where x, y is of the line;
 * else at its begin).
 */
void svg_label(struct text *out, const char *look, double x, double y, const char *words);
/* The same upwards, around its middle. */
void svg_label_upwards(struct text *out, const char *look, double x, double y, const char *words);

/* Between these are the shapes of one curve: paths, circles and boxes. */
void svg_curve_begin(struct text *out, int index, const char *name);
void svg_curve_end(struct text *out);
/* A box in its colour. */
void svg_box(struct text *out, double x, double y, double width, double height);
/* The sample of a line in a legend; y: its middle. */
void svg_legend_line(struct text *out, int index, double x, double y, double length);

/* A plot's place in the picture and what its axes span; both spans are longer than 0. */
struct svg_frame {
    double left, right, top, bottom;
    double x_low, x_high, y_low, y_high;
};

double svg_x(const struct svg_frame *frame, double x);
/* Not so far out that a number no reader of SVG knows would come of it. */
double svg_y(const struct svg_frame *frame, double y);

/* The axes' lines; the grid and the numbers of the y axis. */
void svg_axes(struct text *out, const struct svg_frame *frame, const struct ticks *y);
/* A mark below the x axis, with words; and one with a figure at each tick. */
void svg_x_mark(struct text *out, const struct svg_frame *frame, double x, const char *words);
void svg_x_ticks(struct text *out, const struct svg_frame *frame, const struct ticks *ticks);
/* Points from left to right, joined by a line that one without a finite place interrupts. */
struct svg_pen {
    bool down;
};
void svg_line_begin(struct text *out, struct svg_pen *pen, int index);
void svg_line_to(struct text *out, struct svg_pen *pen, const struct svg_frame *frame, double x,
                 double y);
void svg_line_end(struct text *out);
void svg_dot(struct text *out, const struct svg_frame *frame, double x, double y);

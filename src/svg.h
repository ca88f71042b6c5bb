/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SVG_H
#define DPARTUI_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/*
 * Charts as SVG 1.1 pictures, without scripts, fonts or anything else from outside. Pure: the
 * picture grows in a `struct text`, which remembers a failed allocation. Text of any origin is made
 * harmless: markup is escaped, what XML does not allow becomes '?'.
 */

/* Points from left to right; one that is not finite interrupts the line. */
struct svg_series {
    const char *name; /* in the legend; NULL: not there */
    size_t count;
    const double *x, *y;
    const double *low, *high; /* ends of a bar at each point; NULL: none */
    bool marks;               /* a dot at each point */
    bool dashed;
    int colour; /* of the palette; -1: grey */
};

struct svg_panel {
    const char *title, *x_label, *y_label;
    const struct svg_series *series;
    size_t series_count;
    /* Where the x axis is marked, and with what words; 0: at round numbers. */
    size_t tick_count;
    const double *ticks;
    const char *const *tick_names;
    bool from_zero; /* the y axis begins at 0 */
};

enum { SVG_PALETTE = 8 }; /* colours that stay apart also to colour-blind eyes */

/* Pixels. A picture holds any number of panels. */
void svg_begin(struct text *out, double width, double height);
void svg_panel(struct text *out, const struct svg_panel *chart, double left, double top,
               double width, double height);
/* A line of text; `size` in pixels. */
void svg_words(struct text *out, const char *words, double left, double top, double size);
void svg_end(struct text *out);

#endif

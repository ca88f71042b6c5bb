/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "output/svg.h"

/* One of several plots in a picture: points with bars over a few places on the x axis. */

/* Points from left to right; one that is not finite interrupts the line. */
struct svg_series {
    const char *name; /* in the legend */
    const double *x, *y;
    const double *low, *high; /* ends of a bar at each point; NULL: no bars and no dots */
    int index;                /* as a curve's in svg.h, or SVG_GUIDE */
};

struct svg_panel {
    const char *title, *x_label, *y_label;
    const struct svg_series *series;
    size_t series_count;
    /* Where points are, and what these places are called. */
    size_t count;
    const double *places;
    const char *const *names;
    bool from_zero; /* the y axis begins at 0 */
};

void svg_panel_draw(struct text *out, const struct svg_panel *panel, double left, double top,
                    double width, double height);

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_SVG_CHART_H
#define DPARTUI_SVG_CHART_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "ui/chart.h"

/*
 * Curves as a picture: one SVG file that needs nothing else, on a light or a dark ground as the
 * reader likes it. Curves differ by colour, for the colour-blind too, and by their dashes.
 */

/* So many curves look different. */
#define SVG_CURVES_MOST 30

struct svg_curve {
    const char *name;                 /* UTF-8 */
    const struct chart_point *points; /* by rising x; y NAN: a gap */
    int count;
};

struct svg_chart {
    const char *title, *x_label; /* UTF-8 */
    double top;                  /* the y axis never goes beyond this; may be infinite */
    bool may_diverge;            /* as ui/chart.h has it */
    const struct svg_curve *curves;
    int count;
};

/* Add the picture to `out`; the caller looks at out->failed. */
bool svg_chart_draw(const struct svg_chart *chart, struct text *out, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "output/svg.h"

/* Curves of runs as a separate picture, with a legend below. */

struct svg_curve {
    const char *name;                 /* UTF-8 */
    const struct chart_point *points; /* by rising x; y NAN: a gap */
    int count;
};

struct svg_chart {
    const char *title, *x_label; /* UTF-8 */
    double top;                  /* the y axis never goes beyond this; may be infinite */
    bool may_diverge;            /* as ui/chart/chart.h has it */
    const struct svg_curve *curves;
    int count;
};

/* Add the picture to `out`; the caller looks at out->failed. */
bool svg_chart_draw(const struct svg_chart *chart, struct text *out, struct error *err);

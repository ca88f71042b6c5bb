/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "ui/draw/canvas.h"
#include "ui/draw/surface.h"

/*
 * Curves over epochs, or over anything else. The x axis stands still while a curve grows, so that
 * it appends and nothing else on the screen moves; the y axis fits what is shown, in round steps.
 * What is left 0 is not wanted.
 */

/* From the back to the front. Each looks different, also without colour. */
enum series_rank {
    SERIES_REFERENCE, /* what would be ideal */
    SERIES_REST,      /* what is still to come of another one: without a name */
    SERIES_RAW,       /* what another one was before it was smoothed: without a name */
    SERIES_PAST,
    SERIES_MARKED, /* of SERIES_LOOKS different looks */
    SERIES_COMPANION,
    SERIES_MAIN
};
enum { SERIES_LOOKS = 8 };

/* How values are written. */
enum chart_unit {
    CHART_PLAIN,   /* with chart->decimals */
    CHART_COUNT,   /* 4.51k */
    CHART_SHORT,   /* as short as it can be told apart */
    CHART_PERCENT, /* of 0..1 */
    CHART_TIMES    /* 1.87x */
};

struct chart_point {
    double x, y; /* y NAN: not known, the curve has a gap */
};

struct chart_series {
    const struct chart_point *points; /* by rising x */
    int count;
    enum series_rank rank;
    int look;          /* of a marked one: 0..SERIES_LOOKS - 1 */
    bool stepped;      /* a value holds since the point before; else straight lines */
    long number;       /* stands at the curve's end and in the legend ... */
    const char *name;  /* ... unless there is this; may be NULL */
    char32_t mark;     /* at each point, for series of few; 0: none */
    double last, best; /* for the legend, NAN: none */
    double begins;     /* the curve's first value where `points` is only a part; 0: points tell */
    double at;         /* at the cursor */
};

struct chart {
    const char *title;
    bool focused;               /* it has the keys */
    const char *advice;         /* in place of curves while no series has a point; may be NULL */
    const char *note;           /* at the right of the first row when there is room; may be NULL */
    const char *x_label;        /* NULL: "epoch" */
    double x_low, x_high;       /* of the axis */
    bool x_fractions;           /* ticks between whole numbers, too */
    const char *const *x_names; /* stand at 1, 2, 3 ... in place of these numbers; NULL: none do */
    int x_name_count;
    double y_floor, y_top; /* the y axis never goes beyond these; infinite: no such bound */
    bool from_zero;        /* 0 is always in sight */
    bool may_diverge;      /* see chart_range */
    bool fits_front;       /* the y axis fits the front series and its companion alone, if it can */
    bool logarithmic;      /* all y here are logarithms to base 10; ticks are of the values */
    bool fixed;            /* the y axis covers low..high whatever is shown */
    double low, high;
    enum chart_unit unit;
    int decimals;        /* of numbers in the legend */
    const double *marks; /* where something happened, on the x axis */
    int mark_count;
    bool reading;                      /* there is a cursor ... */
    double cursor;                     /* ... at this x; the legend shows values at it */
    enum canvas_kind canvas;           /* on a surface without UTF-8 always ASCII */
    const struct chart_series *series; /* from the back to the front */
    int count;
};

/* Title and legend in the first row, x labels in the last, curves between. */
bool chart_draw(const struct chart *chart, struct surface *surface, struct rect area,
                struct error *err);

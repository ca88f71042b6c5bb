/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_UI_CHART_H
#define DPARTUI_UI_CHART_H

#include <stdbool.h>

#include "base/error.h"
#include "ui/surface.h"

/*
 * Curves over epochs. The x axis spans the whole run from the start, so a growing curve appends and
 * nothing on the screen moves; the y axis fits what is shown, in round steps.
 */

enum series_rank { SERIES_PAST, SERIES_MARKED, SERIES_MAIN }; /* from the back to the front */

struct chart_point {
    double x, y; /* y NAN: not known, the curve has a gap */
};

struct chart_series {
    const struct chart_point *points; /* by rising x */
    int count;
    enum series_rank rank;
    long number;      /* stands at the curve's end and in the legend ... */
    const char *name; /* ... unless this does */
    char32_t mark;    /* at each point; 0: none */
    double last, best;
};

struct chart {
    const char *title;
    const char *x_label;   /* NULL: "epoch" */
    const char *advice;    /* in place of curves while no series has a point; may be NULL */
    double x_low, x_high;  /* of the axis */
    double y_floor, y_top; /* the y axis never goes beyond these; infinite: no such bound */
    int decimals;          /* of figures in the legend */
    const struct chart_series *series; /* from the back to the front */
    int count;
};

/* Round ticks: first + i * step for i in 0..count-1, with so many decimals to tell them apart. */
struct ticks {
    double first, step;
    int count, decimals;
};

/*
 * Steps of 1, 2 or 5 times a power of ten covering low..high with at most `most` (>= 2) ticks; the
 * first lies at or below `low`, the last at or above `high`. Heckbert, "Nice numbers for graph
 * labels", Graphics Gems, 1990. Equal or not finite bounds are widened.
 */
struct ticks ticks_around(double low, double high, int most);
/* The same steps, but all ticks inside low..high; whole numbers only. */
struct ticks ticks_inside(double low, double high, int most);

/* The y axis that the chart's series need: at most `most` ticks. */
struct ticks chart_y_ticks(const struct chart *chart, int most);

/* Title and legend in the first row, x labels in the last, curves between. */
bool chart_draw(const struct chart *chart, struct surface *surface, struct rect area,
                struct error *err);

#endif

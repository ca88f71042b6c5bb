/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/chart/chart.h"

/*
 * Round ticks: first + i * step for i in 0..count-1, with so many decimals to tell them apart.
 * Logarithmic ones: first + i * step is the place of a tick among ..., 0.5, 1, 2, 5, 10, ..., where
 * 1 is at place 0.
 */
struct ticks {
    double first, step;
    int count, decimals;
    bool logarithmic;
    double low, high; /* of a y axis: what it covers, as the chart's y */
};
/* The value of tick `i`. */
double tick_value(const struct ticks *ticks, int i);

/*
 * Steps of 1, 2 or 5 times a power of ten covering low..high with at most `most` (>= 2) ticks; the
 * first lies at or below `low`, the last at or above `high`. Heckbert, "Nice numbers for graph
 * labels", Graphics Gems, 1990. Equal or not finite bounds are widened.
 */
struct ticks ticks_around(double low, double high, int most);
/* The same steps, `least` or more, but all ticks inside low..high; about `most` of them. */
struct ticks ticks_inside(double low, double high, int most, double least);

/*
 * The values in sight that the y axis is to fit; false when there are none. In a chart that may
 * diverge, values more than three times as high as where healthy curves begin (those that begin
 * within twenty times of the lowest) are not counted as long as others are in sight: a loss that
 * explodes runs off the top, with a mark there, and does not squash the rest.
 */
bool chart_range(const struct chart *chart, double *low, double *high);
/* The y axis that the chart's series need, or the fixed one: at most `most` ticks. A logarithmic
 * one of less than half a decade has linear ticks. */
struct ticks chart_y_ticks(const struct chart *chart, int most);

/* SPDX-License-Identifier: MIT */
#include "ui/chart/scale.h"

#include <math.h>

/* What the axes of a chart cover, and where their ticks are. */

/* The smallest of 1, 2, 5 times a power of ten that is not below `step`. */
static double nice_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double fraction = step / power;
    return power * (fraction <= 1 + 1e-9   ? 1
                    : fraction <= 2 + 1e-9 ? 2
                    : fraction <= 5 + 1e-9 ? 5
                                           : 10);
}

static int decimals_of(double step)
{
    int decimals = (int)ceil(-log10(step) - 1e-9);
    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

struct ticks ticks_around(double low, double high, int most)
{
    most = most < 2 ? 2 : most;
    if (!isfinite(low) || !isfinite(high) || fabs(low) > 1e100 || fabs(high) > 1e100) {
        low = 0;
        high = 1;
    }
    if (high < low)
        high = low;
    /* Nearer than a double can step between them. */
    double least = fmax(fabs(low), fabs(high)) * 1e-9;
    if (high - low <= least) {
        double around = fmax(fabs(low) * 0.01, 1e-3);
        low -= around;
        high += around;
    }
    double step = nice_step((high - low) / (most - 1));
    for (;;) {
        double first = floor(low / step + 1e-9) * step;
        int count = (int)ceil((high - first) / step - 1e-9) + 1;
        if (count <= most)
            return (struct ticks){.first = first,
                                  .step = step,
                                  .count = count < 2 ? 2 : count,
                                  .decimals = decimals_of(step)};
        step = nice_step(step * 1.5);
    }
}

struct ticks ticks_inside(double low, double high, int most, double least)
{
    most = most < 2 ? 2 : most;
    double step = nice_step(fmax(least, (high - low) / (most - 1)));
    double first = ceil(low / step - 1e-9) * step;
    if (high < first)
        return (struct ticks){
            .first = low, .step = step, .count = 1, .decimals = decimals_of(step)};
    return (struct ticks){.first = first,
                          .step = step,
                          .count = (int)floor((high - first) / step + 1e-9) + 1,
                          .decimals = decimals_of(step)};
}

/* The number at a place among ..., 0.5, 1, 2, 5, 10, ... */
static double number_at(double place)
{
    static const double digits[] = {1, 2, 5};
    double decade = floor(place / 3);
    return digits[(int)(place - 3 * decade)] * pow(10, decade);
}

double tick_value(const struct ticks *ticks, int i)
{
    double value = ticks->first + ticks->step * i;
    if (ticks->logarithmic)
        return number_at(value);
    return fabs(value) < ticks->step * 1e-6 ? 0 : value;
}

/* The last place whose number is not above, or the first whose is not below. */
static double place_around(double logarithm, bool above)
{
    const double slack = above ? -1e-9 : 1e-9;
    double place = 3 * floor(logarithm + slack);
    while (log10(number_at(place + 1)) <= logarithm + slack)
        place++;
    return above ? place + 1 : place;
}

/* All of 1, 2, 5, 10, ... where there is room, else each decade, second decade, ... */
static struct ticks ticks_logarithmic(double low, double high, int most)
{
    if (!isfinite(low) || !isfinite(high) || high < low) {
        low = 0;
        high = 1;
    }
    /* Of what a double can be. */
    low = fmin(fmax(low, -300), 300);
    high = fmin(fmax(high, -300), 300);
    double bottom = place_around(low, false), top = fmax(place_around(high, true), bottom + 1);
    struct ticks ticks = {bottom, 1, (int)(top - bottom) + 1, 0, true, 0, 0};
    ticks.low = log10(number_at(bottom));
    ticks.high = log10(number_at(top));
    for (double step = 3; ticks.count > most; step += 3) {
        ticks.step = step;
        ticks.first = step * ceil(bottom / step);
        ticks.count = (int)floor((top - ticks.first) / step) + 1;
    }
    if (ticks.count < 2) {
        ticks.first = bottom;
        ticks.step = top - bottom;
        ticks.count = 2;
    }
    return ticks;
}

/* Bounds of less than half a decade have ticks as on a linear axis. */
static struct ticks ticks_of_logarithms(double low, double high, int most)
{
    if (high - low < 0.5 && fabs(low) < 90 && fabs(high) < 90) {
        struct ticks ticks = ticks_around(pow(10, low), pow(10, high), most);
        ticks.low = log10(ticks.first);
        ticks.high = log10(ticks.first + ticks.step * (ticks.count - 1));
        if (ticks.first > ticks.step / 2)
            return ticks;
    }
    return ticks_logarithmic(low, high, most);
}

/* The first value of a series; NAN: it has none. */
static double beginning(const struct chart_series *series)
{
    for (int i = 0; i < series->count && !(series->begins > 0); i++)
        if (isfinite(series->points[i].y))
            return series->points[i].y;
    return series->begins > 0 ? series->begins : NAN;
}

/* Which series the axis fits. */
enum fitted { FIT_ALL, FIT_FRONT };

static bool is_fitted(const struct chart_series *series, enum fitted fitted)
{
    return fitted == FIT_ALL || series->rank >= SERIES_COMPANION || series->rank == SERIES_REST ||
           series->rank == SERIES_RAW;
}

/* How high a healthy curve can be; INFINITY: whatever it is. */
static double healthy_limit(const struct chart *chart, enum fitted fitted)
{
    double lowest = INFINITY, limit = 0;
    for (int i = 0; i < chart->count; i++)
        if (is_fitted(&chart->series[i], fitted))
            lowest = fmin(lowest, beginning(&chart->series[i]));
    for (int i = 0; i < chart->count; i++) {
        double begins = beginning(&chart->series[i]);
        if (is_fitted(&chart->series[i], fitted) && begins <= 20 * lowest)
            limit = fmax(limit, 3 * begins);
    }
    return limit > 0 ? limit : INFINITY;
}

/* Widen low..high by the part of a line that lies in sight. */
static void add_line(const struct chart *chart, const struct chart_point *a,
                     const struct chart_point *b, bool stepped, double limit, double *low,
                     double *high)
{
    double from = fmax(a->x, chart->x_low), to = fmin(b->x, chart->x_high);
    if (from > to)
        return;
    double ends[] = {b->y, b->y};
    if (!stepped && b->x > a->x) {
        double t0 = (from - a->x) / (b->x - a->x), t1 = (to - a->x) / (b->x - a->x);
        ends[0] = a->y * (1 - t0) + b->y * t0;
        ends[1] = a->y * (1 - t1) + b->y * t1;
    }
    for (int i = 0; i < 2; i++)
        if (isfinite(ends[i]) && ends[i] <= limit) {
            *low = fmin(*low, ends[i]);
            *high = fmax(*high, ends[i]);
        }
}

static bool range_within(const struct chart *chart, enum fitted fitted, double limit, double *low,
                         double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < chart->count; i++) {
        const struct chart_series *series = &chart->series[i];
        const struct chart_point *before = NULL;
        if (!is_fitted(series, fitted))
            continue;
        for (int j = 0; j < series->count; j++) {
            const struct chart_point *point = &series->points[j];
            if (!isfinite(point->y)) {
                before = NULL;
                continue;
            }
            add_line(chart, before ? before : point, point, series->stepped, limit, low, high);
            before = point;
        }
    }
    return *low <= *high;
}

static bool range_of(const struct chart *chart, enum fitted fitted, double *low, double *high)
{
    double limit = chart->may_diverge ? healthy_limit(chart, fitted) : INFINITY;
    return range_within(chart, fitted, limit, low, high) ||
           range_within(chart, fitted, INFINITY, low, high);
}

bool chart_range(const struct chart *chart, double *low, double *high)
{
    if (!(chart->fits_front && range_of(chart, FIT_FRONT, low, high)) &&
        !range_of(chart, FIT_ALL, low, high))
        return false;
    if (chart->from_zero && !chart->logarithmic) {
        *low = fmin(*low, 0);
        *high = fmax(*high, 0);
    }
    return true;
}

struct ticks chart_y_ticks(const struct chart *chart, int most)
{
    double low = chart->low, high = chart->high;
    if (!chart->fixed && !chart_range(chart, &low, &high))
        low = high = NAN;
    if (chart->logarithmic)
        return ticks_of_logarithms(low, high, most);
    struct ticks ticks = ticks_around(low, high, most);
    /* A point alone is widened: back to what the quantity can be. */
    while (ticks.count > 2 && ticks.first < chart->y_floor - ticks.step / 2) {
        ticks.first += ticks.step;
        ticks.count--;
    }
    while (ticks.count > 2 &&
           ticks.first + ticks.step * (ticks.count - 1) > chart->y_top + ticks.step / 2)
        ticks.count--;
    ticks.low = ticks.first;
    ticks.high = ticks.first + ticks.step * (ticks.count - 1);
    return ticks;
}

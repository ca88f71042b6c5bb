/* SPDX-License-Identifier: MIT */
#include "ui/chart/axis.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Both must rise. */
static void add_knot(struct axis *axis, double epoch, double x)
{
    const struct axis_knot *last = axis->count > 0 ? &axis->knots[axis->count - 1] : NULL;
    if (isfinite(epoch) && isfinite(x) && (!last || (epoch > last->epoch && x > last->x)))
        axis->knots[axis->count++] = (struct axis_knot){epoch, x};
}

static void add_steps(struct axis *axis, const struct state_run *run)
{
    add_knot(axis, 0, 0);
    for (int i = 0; i < run->point_count; i++)
        add_knot(axis, run->points[i].epoch, run->points[i].step);
    axis->whole = axis->count;
    for (int i = 0; i < run->fine_count; i++)
        add_knot(axis, run->fine[i].epoch, run->fine[i].step);
}

static double last_x(const struct axis *axis)
{
    return axis->count > 0 ? axis->knots[axis->count - 1].x : 0;
}

/* Of the epoch that runs, by the rows of each point: a step has the same number of them. */
static void add_running_seconds(struct axis *axis, const struct state_run *run)
{
    if (axis->count == 0 && run->fine_count > 0)
        add_knot(axis, ceil(run->fine[0].epoch) - 1, 0);
    for (int i = 0; axis->count > 0 && i < run->fine_count; i++) {
        const struct epoch_point *point = &run->fine[i];
        double rows = run->batch * point->step / point->epoch;
        double since = point->epoch - axis->knots[axis->count - 1].epoch;
        add_knot(axis, point->epoch, last_x(axis) + since * rows / point->value[METRIC_SPEED]);
    }
}

static void add_seconds(struct axis *axis, const struct state_run *run)
{
    const struct measure *measure = &run->measure;
    if (measure->count > 0)
        add_knot(axis, measure->epochs[0].epoch - 1, 0);
    for (int i = 0; i < measure->count; i++) {
        double epochs = i > 0 ? measure->epochs[i].epoch - measure->epochs[i - 1].epoch : 1;
        add_knot(axis, measure->epochs[i].epoch,
                 last_x(axis) + epochs * measure->epochs[i].seconds);
    }
    axis->whole = axis->count;
    add_running_seconds(axis, run);
}

bool axis_open(struct axis *axis, enum x_axis kind, const struct state_run *run, struct error *err)
{
    *axis = (struct axis){.kind = kind};
    if (kind == X_EPOCHS || !run)
        return true;
    size_t most = (size_t)(run->point_count + run->measure.count + run->fine_count) + 2;
    axis->knots = calloc(most, sizeof *axis->knots);
    if (!axis->knots)
        return error_memory(err, "the chart");
    if (kind == X_STEPS)
        add_steps(axis, run);
    else
        add_seconds(axis, run);
    /* Before the first epoch ends there is nothing steadier. */
    if (axis->whole < 2)
        axis->whole = axis->count;
    return true;
}

void axis_close(struct axis *axis)
{
    free(axis->knots);
    axis->knots = NULL;
    axis->count = axis->whole = 0;
}

bool axis_is_known(const struct axis *axis)
{
    return axis->kind == X_EPOCHS || axis->count >= 2;
}

static double knot_value(const struct axis_knot *knot, bool is_x)
{
    return is_x ? knot->x : knot->epoch;
}

/* From one to the other of epochs and places: the second, by what the first is. */
static double convert(const struct axis *axis, double value, bool from_x)
{
    int low = 1, high = axis->count;
    if (axis->kind == X_EPOCHS)
        return value;
    if (axis->count < 2)
        return NAN;
    const struct axis_knot *last = &axis->knots[axis->count - 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (knot_value(&axis->knots[middle], from_x) < value)
            low = middle + 1;
        else
            high = middle;
    }
    const struct axis_knot *a = &axis->knots[low - 1], *b = &axis->knots[low];
    if (low == axis->count) {
        a = &axis->knots[0];
        b = &axis->knots[axis->whole - 1];
    }
    double pace = (knot_value(b, !from_x) - knot_value(a, !from_x)) /
                  (knot_value(b, from_x) - knot_value(a, from_x));
    const struct axis_knot *base = low == axis->count ? last : a;
    return knot_value(base, !from_x) + (value - knot_value(base, from_x)) * pace;
}

double axis_at(const struct axis *axis, double epoch)
{
    return convert(axis, epoch, false);
}

double axis_epoch(const struct axis *axis, double x)
{
    return convert(axis, x, true);
}

double axis_end(double x)
{
    static const double ends[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double power = pow(10, floor(log10(x)));
    size_t i = 0;
    if (!(x > 0) || !isfinite(power) || power <= 0)
        return 1;
    while (i + 1 < sizeof ends / sizeof ends[0] && ends[i] * power < x)
        i++;
    return ends[i] * power;
}

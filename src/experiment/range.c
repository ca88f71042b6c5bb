/* SPDX-License-Identifier: MIT */
#include "experiment/range.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

/* What is kept of the mean in each step, and what the loss diverges at. */
#define DECAY    0.9
#define DIVERGED 4.0
/* A loss that keeps more of what it was has hardly fallen: the difference may be chance. */
#define FALLEN 0.98
/* The first of so many parts, in which the mean is one of few steps, is passed over. */
enum { PARTS = 10 };

bool range_add(struct range *range, double lr, double loss, struct error *err)
{
    if (range->diverged || !isfinite(loss)) {
        range->diverged = true;
        return true;
    }
    struct range_point *points =
        array_grow(range->points, range->count, &range->capacity, sizeof *points);
    if (!points)
        return error_memory(err, "steps");
    range->points = points;
    range->mean = DECAY * range->mean + (1 - DECAY) * loss;
    int steps = range->count + 1;
    double smoothed = range->mean / (1 - pow(DECAY, steps));
    range->least = steps == 1 ? smoothed : fmin(range->least, smoothed);
    range->points[range->count++] = (struct range_point){lr, loss, smoothed};
    range->diverged = smoothed > DIVERGED * range->least;
    return true;
}

void range_free(struct range *range)
{
    free(range->points);
    *range = (struct range){0};
}

static int lowest(const struct range *range)
{
    int best = 0;
    for (int i = 1; i < range->count; i++)
        if (range->points[i].smoothed < range->points[best].smoothed)
            best = i;
    return best;
}

double range_lowest(const struct range *range)
{
    return range->count > 0 ? range->points[lowest(range)].lr : NAN;
}

double range_steepest(const struct range *range)
{
    /* Of neighbours the difference would be chance. */
    int apart = range->count / (2 * PARTS) > 1 ? range->count / (2 * PARTS) : 1;
    int first = range->count / PARTS > apart ? range->count / PARTS : apart;
    double steepest = 0, lr = NAN;
    /* What falls after the least loss comes back from a rise. */
    int last = lowest(range);
    if (range->count <= first ||
        !(range->points[last].smoothed < FALLEN * range->points[first].smoothed))
        return NAN;
    for (int i = first; i <= last && i + apart < range->count; i++) {
        const struct range_point *before = &range->points[i - apart];
        const struct range_point *after = &range->points[i + apart];
        double slope = (after->smoothed - before->smoothed) / log(after->lr / before->lr);
        if (slope < steepest) {
            steepest = slope;
            lr = range->points[i].lr;
        }
    }
    return lr;
}

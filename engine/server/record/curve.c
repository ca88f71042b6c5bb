/* SPDX-License-Identifier: MIT */
#include "engine/server/record/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/json.h"

/* About this many points make the curve of a run that ends as planned. */
#define CURVE_AIM 256

void curve_begin(struct curve *curve, const json_t *run_event)
{
    long steps = (long)member_integer(run_event, "total_steps");
    curve->stride = steps > CURVE_AIM ? (steps + CURVE_AIM - 1) / CURVE_AIM : 1;
    curve->train_rows = (long)member_integer(run_event, "train_rows");
}

static struct point merged(const struct point *first, const struct point *second)
{
    struct point point = *second;
    point.steps += first->steps;
    point.rows += first->rows;
    point.correct += first->correct;
    point.loss_sum += first->loss_sum;
    point.seconds += first->seconds;
    return point;
}

static void merge_pairs(struct curve *curve)
{
    for (size_t i = 0; i < curve->count / 2; i++)
        curve->points[i] = merged(&curve->points[2 * i], &curve->points[2 * i + 1]);
    curve->count /= 2;
    curve->stride *= 2;
}

/* Without memory the curve has a gap; those who watch get the point all the same. */
static void keep(struct curve *curve, const struct point *point)
{
    struct point *points =
        array_grow(curve->points, (int)curve->count, &curve->capacity, sizeof *points);
    if (!points)
        return;
    curve->points = points;
    points[curve->count++] = *point;
    if (curve->count >= CURVE_MOST)
        merge_pairs(curve);
}

/* Passes over the rows: whole epochs before this one, and the part of this one that is done. */
static double passes(struct curve *curve, long epoch, long rows)
{
    if (epoch != curve->epoch)
        curve->epoch_rows = 0;
    curve->epoch = epoch;
    curve->epoch_rows += rows;
    double part = curve->train_rows > 0 ? (double)curve->epoch_rows / (double)curve->train_rows : 1;
    return (double)(epoch - 1) + fmin(1, part);
}

bool curve_add(struct curve *curve, const json_t *step_event, struct point *point)
{
    long rows = (long)member_integer(step_event, "rows");
    struct point step = {
        .epoch = passes(curve, (long)member_integer(step_event, "epoch"), rows),
        .step = (long)member_integer(step_event, "step"),
        .steps = 1,
        .rows = rows,
        .correct = (long)member_integer(step_event, "correct"),
        .loss_sum = member_number(step_event, "loss") * (double)rows,
        .seconds = member_number(step_event, "seconds"),
        .lr = member_number(step_event, "lr"),
    };
    curve->open = curve->open.steps ? merged(&curve->open, &step) : step;
    return curve->open.steps >= curve->stride && curve_end(curve, point);
}

bool curve_end(struct curve *curve, struct point *point)
{
    if (!curve->open.steps)
        return false;
    *point = curve->open;
    curve->open.steps = 0;
    keep(curve, point);
    return true;
}

void curve_free(struct curve *curve)
{
    free(curve->points);
    curve->points = NULL;
    curve->capacity = 0;
    curve->count = 0;
}

json_t *point_json(const struct point *point)
{
    double rows = (double)point->rows;
    return json_pack("{s:s, s:f, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "event", "point", "epoch",
                     point->epoch, "step", (json_int_t)point->step, "steps",
                     (json_int_t)point->steps, "rows", (json_int_t)point->rows, "train_loss",
                     json_finite(point->loss_sum / rows), "train_acc",
                     json_finite((double)point->correct / rows), "samples_per_s",
                     json_finite(rows / point->seconds), "lr", json_finite(point->lr));
}

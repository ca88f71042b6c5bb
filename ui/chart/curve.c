/* SPDX-License-Identifier: MIT */
#include "ui/chart/curve.h"

#include <math.h>
#include <stdlib.h>

#include "ui/chart/smooth.h"

static const struct metric_look looks[METRIC_COUNT] = {
    [METRIC_TEST_ACC] = {"Test accuracy", "test", 0, 1, false, false, METRIC_TRAIN_ACC,
                         METRIC_TEST_LOSS, CHART_PLAIN},
    [METRIC_TRAIN_ACC] = {"Train accuracy", "train", 0, 1, false, true, METRIC_TEST_ACC,
                          METRIC_TRAIN_LOSS, CHART_PLAIN},
    [METRIC_TRAIN_LOSS] = {"Train loss", "train", 0, INFINITY, true, true, METRIC_TEST_LOSS,
                           METRIC_TRAIN_ACC, CHART_PLAIN},
    [METRIC_TEST_LOSS] = {"Test loss", "test", 0, INFINITY, true, false, METRIC_TRAIN_LOSS,
                          METRIC_TEST_ACC, CHART_PLAIN},
    [METRIC_SPEED] = {"Samples/s", "", 0, INFINITY, false, true, METRIC_SPEED, METRIC_TEST_ACC,
                      CHART_COUNT},
    [METRIC_LR] = {"Learning rate", "", 0, INFINITY, true, true, METRIC_LR, METRIC_TRAIN_LOSS,
                   CHART_SHORT},
    [METRIC_NOISE] = {"Noise scale", "", 0, INFINITY, false, false, METRIC_NOISE, METRIC_TRAIN_LOSS,
                      CHART_COUNT},
    [METRIC_ENERGY] = {"Joules per epoch", "", 0, INFINITY, true, false, METRIC_ENERGY,
                       METRIC_TEST_ACC, CHART_COUNT},
    [METRIC_SAMPLES_PER_J] = {"Samples/J", "", 0, INFINITY, false, false, METRIC_SAMPLES_PER_J,
                              METRIC_TEST_ACC, CHART_COUNT},
};

const struct metric_look *metric_look(enum metric metric)
{
    return &looks[metric];
}

struct curve curve_of(const struct state_run *run, enum metric metric)
{
    bool fine = looks[metric].fine && run->fine_count > 0;
    return (struct curve){run, metric, fine ? run->fine : run->points,
                          fine ? run->fine_count : run->point_count};
}

/* The first point of `count` that is not before `epoch`. */
static int lower_bound(const struct epoch_point *points, int count, double epoch)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (points[middle].epoch < epoch)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

double retune_epoch(const struct state_run *run, const struct retune *retune)
{
    bool fine = run->fine_count > 0;
    const struct epoch_point *points = fine ? run->fine : run->points;
    int low = 0, high = fine ? run->fine_count : run->point_count, count = high;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (points[middle].step < retune->step)
            low = middle + 1;
        else
            high = middle;
    }
    /* Between two points, or beyond the last one at the pace so far. */
    const struct epoch_point start = {0};
    const struct epoch_point *before = low > 0 && low < count ? &points[low - 1] : &start;
    const struct epoch_point *after = count == 0    ? &start
                                      : low < count ? &points[low]
                                                    : &points[count - 1];
    if (after->step > before->step)
        return before->epoch + (retune->step - before->step) / (after->step - before->step) *
                                   (after->epoch - before->epoch);
    /* In the middle of the epoch that it names. */
    return fmax(0, retune->epoch - 0.5);
}

double curve_value(const struct curve *curve, int i)
{
    double value = curve->points[i].value[curve->metric];
    if (curve->metric == METRIC_LR && !isfinite(value) && curve->run->retune_count == 0)
        return curve->run->lr;
    return value;
}

int curve_next(const struct curve *curve, double epoch, int direction)
{
    int i = lower_bound(curve->points, curve->count, epoch);
    if (direction < 0)
        i--;
    else if (i < curve->count && curve->points[i].epoch <= epoch)
        i++;
    while (i >= 0 && i < curve->count && !isfinite(curve_value(curve, i)))
        i += direction;
    return i >= 0 && i < curve->count ? i : -1;
}

int curve_nearest(const struct curve *curve, double epoch)
{
    int after = lower_bound(curve->points, curve->count, epoch);
    while (after < curve->count && !isfinite(curve_value(curve, after)))
        after++;
    int before = curve_next(curve, epoch, -1);
    if (after >= curve->count)
        after = -1;
    if (before < 0 || after < 0) {
        /* At the end a curve reaches half as far as its points lie apart. */
        int end = before < 0 ? after : before;
        double reach =
            curve->count > 0 ? curve->points[curve->count - 1].epoch / curve->count / 2 + 1e-9 : 0;
        return end >= 0 && fabs(curve->points[end].epoch - epoch) <= reach ? end : -1;
    }
    return epoch - curve->points[before].epoch < curve->points[after].epoch - epoch ? before
                                                                                    : after;
}

double curve_first(const struct curve *curve)
{
    int i = curve_next(curve, -INFINITY, 1);
    return i >= 0 ? curve_value(curve, i) : NAN;
}

double curve_last(const struct curve *curve)
{
    int i = curve_next(curve, INFINITY, -1);
    return i >= 0 ? curve_value(curve, i) : NAN;
}

double curve_best(const struct curve *curve)
{
    const bool neutral = curve->metric == METRIC_LR || curve->metric == METRIC_NOISE;
    double best = NAN;
    /* fmin and fmax pass over NAN. */
    for (int i = 0; i < curve->count && !neutral; i++)
        best = looks[curve->metric].low_is_good ? fmin(best, curve_value(curve, i))
                                                : fmax(best, curve_value(curve, i));
    return best;
}

/* The values of all points up to `last`, smoothed; the caller frees them. NULL: memory ran out. */
static double *smoothed_values(const struct curve *curve, int last, double weight)
{
    struct smoother smoother = {.weight = weight};
    double *values = calloc((size_t)last + 2, sizeof *values);
    for (int i = 0; values && i <= last; i++)
        values[i] = smoother_next(&smoother, curve_value(curve, i));
    return values;
}

/* Of the points first..last: the lowest and the highest, in their order. */
static int extremes(const struct curve *curve, const double *values, int first, int last,
                    struct chart_point *out)
{
    int low = -1, high = -1, count = 0;
    for (int i = first; i <= last; i++) {
        if (!isfinite(values[i]))
            continue;
        if (low < 0 || values[i] < values[low])
            low = i;
        if (high < 0 || values[i] > values[high])
            high = i;
    }
    int one = low < high ? low : high, other = low < high ? high : low;
    if (one >= 0)
        out[count++] = (struct chart_point){curve->points[one].epoch, values[one]};
    if (one != other)
        out[count++] = (struct chart_point){curve->points[other].epoch, values[other]};
    return count;
}

/* What curve_copy copies of the points first..last, `stride` at a time. */
static int copy(const struct curve *curve, const double *values, int first, int last, int stride,
                struct chart_point *points)
{
    int count = 0;
    /* A learning rate holds from the beginning. */
    if (curve->metric == METRIC_LR && first == 0 && last >= 0)
        points[count++] = (struct chart_point){0, values[0]};
    for (int i = first; i <= last; i += stride) {
        if (stride > 1)
            count += extremes(curve, values, i, i + stride <= last ? i + stride - 1 : last,
                              points + count);
        else
            points[count++] = (struct chart_point){curve->points[i].epoch, values[i]};
    }
    return count;
}

int curve_copy(const struct curve *curve, double from, double to, double weight,
               struct chart_point **points, struct error *err)
{
    int first = lower_bound(curve->points, curve->count, from);
    int last = lower_bound(curve->points, curve->count, to);
    int stride = 1, count = -1;
    first = first > 0 ? first - 1 : 0;
    last = last < curve->count ? last : curve->count - 1;
    /* By powers of two, at places that do not move: a curve that grows keeps what it has shown. */
    while ((last - first) / stride > CURVE_MOST / 2)
        stride *= 2;
    first -= first % stride;
    double *values = smoothed_values(curve, last, weight);
    *points = calloc((size_t)(last < first ? 0 : last - first) + 3, sizeof **points);
    if (values && *points) {
        count = copy(curve, values, first, last, stride, *points);
    } else {
        free(*points);
        error_memory(err, "the chart");
    }
    free(values);
    return count;
}

/* SPDX-License-Identifier: MIT */
#include "runs/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/nearest.h"

static const struct run_metric metrics[] = {
    {"test_acc", "Test accuracy", false, false, 1},
    {"test_loss", "Test loss", false, true, INFINITY},
    {"val_acc", "Validation accuracy", false, false, 1},
    {"val_loss", "Validation loss", false, true, INFINITY},
    {"train_acc", "Training accuracy", true, false, 1},
    {"train_loss", "Training loss", true, true, INFINITY},
    {"lr", "Learning rate", true, false, INFINITY},
    {"samples_per_s", "Samples per second", true, false, INFINITY},
    {"seconds", "Seconds per epoch", false, false, INFINITY},
    {"noise_scale", "Gradient noise scale", false, false, INFINITY},
    {"energy_j", "Joules per epoch", false, false, INFINITY},
    {"samples_per_j", "Samples per joule", false, false, INFINITY},
};
enum { METRICS = sizeof metrics / sizeof *metrics };

const struct run_metric *run_metric(size_t index)
{
    return index < METRICS ? &metrics[index] : NULL;
}

const struct run_metric *run_metric_find(const char *name, struct error *err)
{
    const char *names[METRICS];
    for (size_t i = 0; i < METRICS; i++) {
        names[i] = metrics[i].name;
        if (strcmp(name, names[i]) == 0)
            return &metrics[i];
    }
    const char *near = nearest_name(name, names, METRICS);
    if (near)
        error_set(err, ERROR_USAGE, "there is no metric '%.40s': did you mean '%s'?", name, near);
    else
        error_set(err, ERROR_USAGE,
                  "there is no metric '%.40s': it is test_acc, test_loss, val_acc, val_loss, "
                  "train_acc, train_loss, lr, samples_per_s, seconds, noise_scale, energy_j or "
                  "samples_per_j",
                  name);
    return NULL;
}

struct curve_points {
    struct chart_point *list; /* RUN_METRIC_POINTS */
    int count;
    int stride; /* points in a row, of which two are left: doubled whenever the list is full */
    int taken;  /* of the current row */
    struct chart_point low, high;
};

static void append(struct curve_points *points, struct chart_point point)
{
    points->list[points->count++] = point;
}

/* The lowest and the highest of a row of points, in their order. */
static void end_row(struct curve_points *points)
{
    if (points->taken == 0)
        return;
    bool low_first = points->low.x <= points->high.x;
    append(points, low_first ? points->low : points->high);
    if (points->low.x != points->high.x)
        append(points, low_first ? points->high : points->low);
    points->taken = 0;
}

static void take_point(struct curve_points *points, struct chart_point point)
{
    bool first = points->taken == 0;
    if (first || isnan(points->low.y) || point.y < points->low.y)
        points->low = point;
    if (first || isnan(points->high.y) || point.y > points->high.y)
        points->high = point;
    if (++points->taken >= points->stride)
        end_row(points);
}

/* A list that is full once more with rows twice as long. */
static void thin_out(struct curve_points *points)
{
    int count = points->count, stride = points->stride;
    points->count = 0;
    points->stride = 4;
    for (int i = 0; i < count; i++)
        take_point(points, points->list[i]);
    end_row(points);
    points->stride = stride == 1 ? 4 : 2 * stride;
}

static bool read_curve(const struct run_metric *metric, const struct run_view *view,
                       enum store_rows kind, struct curve_points *points, struct error *err)
{
    struct run_rows rows;
    points->count = points->taken = 0;
    points->stride = 1;
    run_rows_open(&rows, view, kind);
    while (run_rows_next(&rows)) {
        double x = member_number(rows.row, "epoch");
        if (!isfinite(x))
            continue;
        if (points->count + 2 > RUN_METRIC_POINTS && points->taken == 0)
            thin_out(points);
        take_point(points, (struct chart_point){x, member_number(rows.row, metric->name)});
    }
    end_row(points);
    return run_rows_close(&rows, err);
}

bool run_metric_curve(const struct run_metric *metric, const struct run_view *view,
                      struct chart_point **list, int *count, struct error *err)
{
    static const enum store_rows kinds[] = {STORE_POINTS, STORE_EPOCHS};
    struct curve_points points = {.list = calloc(RUN_METRIC_POINTS, sizeof *points.list)};
    bool ok = points.list || error_memory(err, "curve");
    /* Where nothing is known between epochs, the epochs. */
    for (int i = metric->between ? 0 : 1; ok && i < 2 && points.count == 0; i++)
        ok = read_curve(metric, view, kinds[i], &points, err);
    if (ok) {
        *list = points.list;
        *count = points.count;
    } else {
        free(points.list);
    }
    return ok;
}

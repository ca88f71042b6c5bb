/* SPDX-License-Identifier: MIT */
#include "ui/views/compare/chart.h"

#include <math.h>

#include "ui/chart/chart.h"
#include "ui/session/ui.h"

/* One metric over the number of devices: the series, and dotted what would be ideal and what is
 * predicted, which halves the room of all else. */

enum { FORECAST_ROWS = 10 };

static const struct compare_look metrics[COMPARE_METRICS] = {
    [COMPARE_SPEED_UP] = {"Speed-up", INFINITY, 2},
    [COMPARE_SAMPLES] = {"Samples/s", INFINITY, 0},
    [COMPARE_SECONDS] = {"Seconds per epoch", INFINITY, 1},
    [COMPARE_EFFICIENCY] = {"Efficiency, %", INFINITY, 0},
    [COMPARE_ACCURACY] = {"Test accuracy", 1, 3},
    [COMPARE_TARGET] = {"Seconds to the target accuracy", INFINITY, 1},
};

const struct compare_look *compare_look(enum compare_metric metric)
{
    return &metrics[metric];
}

double compare_value(const struct outcome *outcome, enum compare_metric metric)
{
    switch (metric) {
    case COMPARE_SPEED_UP:
        return outcome->speed_up;
    case COMPARE_SAMPLES:
        return outcome->samples_per_s.median;
    case COMPARE_SECONDS:
        return outcome->s_per_epoch.median;
    case COMPARE_EFFICIENCY:
        return outcome->efficiency * 100;
    case COMPARE_TARGET:
        return outcome->target_s.median;
    default:
        return outcome->test_acc.mean;
    }
}

const struct spread *compare_band(const struct outcome *outcome, enum compare_metric metric)
{
    switch (metric) {
    case COMPARE_SAMPLES:
        return &outcome->samples_per_s;
    case COMPARE_SECONDS:
        return &outcome->s_per_epoch;
    case COMPARE_TARGET:
        return &outcome->target_s;
    case COMPARE_ACCURACY:
        return &outcome->test_acc;
    default:
        return NULL;
    }
}

/* The base's metric with ideal scaling to that number of devices; accuracy stays as it is. */
static double ideal_of(const struct series *series, enum compare_metric metric, double devices)
{
    double ideal = series_ideal_speed_up(series, devices);
    if (series->base < 0)
        return NAN;
    double base = compare_value(&series->rows[series->base].outcome, metric);
    switch (metric) {
    case COMPARE_SPEED_UP:
    case COMPARE_SAMPLES:
        return base * ideal;
    case COMPARE_SECONDS:
    case COMPARE_TARGET:
        return base / ideal;
    default:
        return base;
    }
}

static struct chart_series make_series(const struct series *series, enum compare_metric metric,
                                       bool front, struct chart_point *points)
{
    static const struct {
        const char *name;
        char mark;
    } others[STRATEGIES] = {[STRATEGY_PIPELINE] = {"pipeline", 'x'},
                            [STRATEGY_TENSOR] = {"tensor", '#'},
                            [STRATEGY_MIXED] = {"mixed", '%'}};
    const bool data = series->strategy == STRATEGY_DATA;
    const bool strong = series->scaling == SCALING_STRONG;
    struct chart_series curve = {
        .points = points,
        .count = series->count,
        .rank = front ? SERIES_MAIN : SERIES_MARKED,
        .name = !data    ? others[series->strategy].name
                : strong ? "strong"
                         : "weak",
        .mark = !data    ? others[series->strategy].mark
                : strong ? 'o'
                         : '+',
        .last = NAN,
        .best = NAN,
    };
    for (int i = 0; i < series->count; i++) {
        double value = compare_value(&series->rows[i].outcome, metric);
        points[i] = (struct chart_point){series->rows[i].run.devices, value};
        curve.last = isfinite(value) ? value : curve.last;
    }
    return curve;
}

/* The lowest or highest value of the seeds, where a row has several. */
static struct chart_series make_bound(const struct series *series, enum compare_metric metric,
                                      bool high, struct chart_point *points)
{
    for (int i = 0; i < series->count; i++) {
        const struct series_row *row = &series->rows[i];
        const struct spread *band =
            row->repeat_count > 1 ? compare_band(&row->outcome, metric) : NULL;
        points[i].x = row->run.devices;
        points[i].y = !band ? NAN : high ? band->high : band->low;
    }
    return (struct chart_series){.points = points,
                                 .count = series->count,
                                 .rank = SERIES_PAST,
                                 .name = high ? "max" : "min",
                                 .mark = high ? '^' : 'v',
                                 .last = NAN,
                                 .best = NAN};
}

/* From the last row on to what is foreseen; nothing where that is not known. */
static struct chart_series make_forecast(const struct ui *ui, const struct series *series,
                                         enum compare_metric metric, struct chart_point points[2])
{
    struct forecast_basis basis;
    struct forecast forecast;
    struct chart_series curve = {.points = points,
                                 .rank = SERIES_PAST,
                                 .name = "predicted",
                                 .mark = '?',
                                 .last = NAN,
                                 .best = NAN};
    if (series->count == 0 || !comparison_foresee(ui, series, &basis, &forecast))
        return curve;
    const struct series_row *last = &series->rows[series->count - 1];
    points[0] = (struct chart_point){last->run.devices, compare_value(&last->outcome, metric)};
    points[1] =
        (struct chart_point){forecast.outcome.devices, compare_value(&forecast.outcome, metric)};
    curve.last = points[1].y;
    curve.count = isfinite(points[1].y) ? 2 : 0;
    return curve;
}

static int most_devices(const struct comparison *comparison)
{
    int most = 2;
    for (int i = 0; i < comparison->count; i++) {
        const struct series *series = &comparison->series[i];
        if (series->count > 0 && series->rows[series->count - 1].run.devices > most)
            most = series->rows[series->count - 1].run.devices;
    }
    return most;
}

/* From the base on; between whole devices only so far that the dots make a smooth line. */
static int make_ideal(const struct series *series, enum compare_metric metric, int most,
                      struct chart_point *points)
{
    int first = series->base >= 0 ? series->rows[series->base].run.devices : 1;
    int count = 0;
    for (int devices = first; devices <= most && count < SERIES_ROWS; devices++)
        points[count++] = (struct chart_point){devices, ideal_of(series, metric, devices)};
    return count;
}

bool compare_chart_draw(const struct ui *ui, const struct comparison *comparison,
                        struct surface *surface, struct rect area, struct error *err)
{
    enum compare_metric metric = ui->compare.metric;
    const struct series *front = &comparison->series[0];
    struct chart_point points[COMPARISON_SERIES][SERIES_ROWS], ideal[SERIES_ROWS];
    struct chart_point bounds[2][SERIES_ROWS], foreseen[2];
    struct chart_series curves[4 + COMPARISON_SERIES];
    int most = most_devices(comparison), count = 1;
    comparison_row(comparison, comparison_line(ui, comparison), &front);
    curves[count] = make_forecast(ui, front, metric, foreseen);
    if (curves[count].count > 0 && area.h >= FORECAST_ROWS)
        most = (int)fmax(most, foreseen[curves[count++].count - 1].x);
    curves[0] = (struct chart_series){
        .points = ideal,
        .count = make_ideal(front, metric, most, ideal),
        .rank = SERIES_REFERENCE,
        .name = metric == COMPARE_ACCURACY ? "base" : "ideal",
        .last = NAN,
        .best = NAN,
    };
    for (int high = 0; high < 2; high++)
        curves[count++] = make_bound(front, metric, high, bounds[high]);
    for (int i = 0; i < comparison->count; i++)
        if (&comparison->series[i] != front)
            curves[count++] = make_series(&comparison->series[i], metric, false, points[i]);
    curves[count++] = make_series(front, metric, true, points[front - comparison->series]);
    struct chart chart = {
        .title = metric == COMPARE_ACCURACY && series_validated(front) ? "Validation accuracy"
                                                                       : metrics[metric].title,
        .advice = "the first values come after epoch 1",
        .x_label = "devices",
        .x_low = 1,
        /* After the last run there is room for the names. */
        .x_high = most + 0.08 * (most - 1),
        .y_floor = 0,
        .y_top = metrics[metric].top,
        .decimals = metrics[metric].decimals,
        .canvas = ui->preferences.canvas,
        .series = curves,
        .count = count,
    };
    return chart_draw(&chart, surface, area, err);
}

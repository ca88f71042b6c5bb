/* SPDX-License-Identifier: MIT */
#include "ui/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ui/panels/panels.h"

static const struct {
    const char *title;
    double floor, top;
    bool low_is_good;
} metrics[METRIC_COUNT] = {
    [METRIC_TEST_ACC] = {"Test accuracy", 0, 1, false},
    [METRIC_TRAIN_ACC] = {"Train accuracy", 0, 1, false},
    [METRIC_TRAIN_LOSS] = {"Train loss", 0, INFINITY, true},
    [METRIC_TEST_LOSS] = {"Test loss", 0, INFINITY, true},
    [METRIC_SPEED] = {"Samples/s", 0, INFINITY, false},
    [METRIC_LR] = {"Learning rate", 0, INFINITY, true},
};

/* One run's curve; the points are freed by the caller. */
static bool make_series(const struct state_run *run, enum metric metric, enum series_rank rank,
                        struct chart_series *series, struct error *err)
{
    struct chart_point *points = calloc((size_t)run->point_count + 1, sizeof *points);

    if (points == NULL)
        return error_memory(err, "the chart");
    *series = (struct chart_series){
        .points = points,
        .count = run->point_count,
        .rank = rank,
        .number = run->run,
        .last = NAN,
        .best = NAN,
    };
    for (int i = 0; i < run->point_count; i++) {
        double value = run->points[i].value[metric];

        points[i] = (struct chart_point){run->points[i].epoch, value};
        if (!isfinite(value))
            continue;
        series->last = value;
        /* fmin and fmax pass over the NAN before the first. */
        series->best =
            metrics[metric].low_is_good ? fmin(series->best, value) : fmax(series->best, value);
    }
    return true;
}

static const char *advice(const struct ui *ui, const struct state_run *const *runs, int count,
                          char *buffer, size_t size)
{
    if (ui->link != LINK_UP)
        return ui->link == LINK_STARTING ? "Starting the engine" : ui->link_advice;
    if (!ui->state.known)
        return NULL;
    if (count == 0 || runs[count - 1]->epochs_done > 0)
        return "Choose devices with Space, then press s to start a run";
    snprintf(buffer, size, "run %ld: the first point comes after epoch 1", runs[count - 1]->run);
    return buffer;
}

bool panel_chart(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    const struct state_run *runs[UI_CHART_RUNS];
    struct chart_series series[UI_CHART_RUNS] = {0};
    char buffer[96];
    int count = ui_chart_runs(ui, runs);
    struct chart chart = {
        .title = metrics[ui->chart.metric].title,
        .advice = advice(ui, runs, count, buffer, sizeof buffer),
        .x_low = 1,
        .x_high = 2,
        .y_floor = metrics[ui->chart.metric].floor,
        .y_top = metrics[ui->chart.metric].top,
        .decimals = 3,
        .series = series,
        .count = count,
    };
    bool ok = true;

    for (int i = 0; i < count && ok; i++) {
        enum series_rank rank = i == count - 1                     ? SERIES_MAIN
                                : runs[i]->run == ui->selected_run ? SERIES_MARKED
                                                                   : SERIES_PAST;

        ok = make_series(runs[i], ui->chart.metric, rank, &series[i], err);
        if (runs[i]->point_count > 0)
            chart.x_high = fmax(chart.x_high, runs[i]->points[runs[i]->point_count - 1].epoch);
        /* The axis has room for the whole run from the start, so that its curve only grows. */
        if (runs[i]->run == ui->state.live.run && isfinite(runs[i]->epochs))
            chart.x_high = fmax(chart.x_high, runs[i]->epochs);
    }
    ok = ok && chart_draw(&chart, surface, area, err);
    for (int i = 0; i < count; i++)
        free((void *)(uintptr_t)series[i].points);
    return ok;
}

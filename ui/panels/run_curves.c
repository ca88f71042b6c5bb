/* SPDX-License-Identifier: MIT */
#include "ui/panels/run_curves.h"

#include <math.h>
#include <stdlib.h>

#include "ui/chart/rest.h"
#include "ui/draw/layout.h"

bool run_charts_are_two(const struct ui *ui)
{
    return ui->columns >= LAYOUT_TWO_CHARTS;
}

bool run_curves_stands_in(const struct state_run *front, enum metric metric)
{
    const enum metric companion = metric_look(metric)->companion;
    if (!front || companion == metric || metric_look(metric)->fine || run_has_ended(front))
        return false;
    struct curve tests = curve_of(front, metric), trained = curve_of(front, companion);
    return curve_next(&tests, INFINITY, -1) < 0 && curve_next(&trained, INFINITY, -1) >= 0;
}

bool run_curves_has_companion(const struct ui *ui, const struct state_run *front,
                              enum metric metric)
{
    if (metric_look(metric)->companion == metric)
        return false;
    return run_charts_are_two(ui) != ui->chart.companion || run_curves_stands_in(front, metric);
}

bool run_curves_are_logarithmic(const struct ui *ui, enum metric metric)
{
    return ui->preferences.y_axis == Y_LOGARITHMIC && metric_look(metric)->top != 1;
}

double run_curves_weight(const struct ui *ui, enum metric metric)
{
    static const double weights[SMOOTHINGS] = {0, 0.6, 0.9};
    return metric == METRIC_LR ? 0 : weights[ui->preferences.smoothing];
}

static void take_logarithms(struct run_chart *made, struct chart_point *points, int count)
{
    for (int i = 0; made->chart.logarithmic && i < count; i++) {
        made->left_out = made->left_out || points[i].y <= 0;
        points[i].y = points[i].y > 0 ? log10(points[i].y) : NAN;
    }
}

/* How much stands out: the front run, what was marked, or what was before. */
static void choose_rank(const struct ui *ui, long run, struct chart_series *series)
{
    series->rank = run == ui->selected_run ? SERIES_MARKED : SERIES_PAST;
    series->look = ui_marks_drawn(ui);
    for (int i = 0; i < ui_marks_drawn(ui); i++)
        if (ui->marked[i] == run) {
            series->rank = SERIES_MARKED;
            series->look = i;
        }
    series->look %= SERIES_LOOKS;
}

/* Put points at their places; how many have one. */
static int place_points(const struct axis *axis, struct chart_point *points, int count)
{
    for (int i = 0; i < count; i++)
        points[i].x = axis_at(axis, points[i].x);
    return axis_is_known(axis) ? count : 0;
}

static bool add_series(const struct ui *ui, struct run_chart *made, const struct state_run *run,
                       enum metric metric, double weight, struct error *err)
{
    struct chart *chart = &made->chart;
    struct chart_series *series = &made->series[chart->count];
    struct curve curve = curve_of(run, metric);
    struct chart_point *points;
    struct axis axis;
    if (!axis_open(&axis, ui->preferences.x_axis, run, err))
        return false;
    int count = curve_copy(&curve, axis_epoch(&axis, chart->x_low),
                           axis_epoch(&axis, chart->x_high), weight, &points, err);
    int at = chart->reading ? curve_nearest(&curve, axis_epoch(&axis, chart->cursor)) : -1;
    if (count >= 0)
        count = place_points(&axis, points, count);
    axis_close(&axis);
    if (count < 0)
        return false;
    double first = curve_first(&curve);
    take_logarithms(made, points, count);
    *series = (struct chart_series){
        .points = points,
        .count = count,
        .stepped = metric == METRIC_LR,
        .number = run->run,
        .last = curve_last(&curve),
        .best = curve_best(&curve),
        .at = at >= 0 ? curve_value(&curve, at) : NAN,
        .begins = isfinite(first) ? first : 0,
    };
    choose_rank(ui, run->run, series);
    chart->count++;
    return true;
}

/* Of the running run: the rates that are still to come. */
static bool add_rest(const struct ui *ui, struct run_chart *made, const struct state_run *run,
                     struct error *err)
{
    const struct state_live *live = &ui->state.live;
    const struct chart *chart = &made->chart;
    struct curve curve = curve_of(run, METRIC_LR);
    struct chart_point *points;
    double begin = curve.count > 0 ? curve.points[curve.count - 1].step : live->step;
    int count = rest_copy(live, begin, axis_epoch(&made->axis, chart->x_low),
                          axis_epoch(&made->axis, chart->x_high), &points, err);
    take_logarithms(made, points, count);
    if (count > 0 && place_points(&made->axis, points, count) == 0)
        free(points);
    else if (count > 0)
        made->series[made->chart.count++] = (struct chart_series){.points = points,
                                                                  .count = count,
                                                                  .rank = SERIES_REST,
                                                                  .stepped = true,
                                                                  .last = NAN,
                                                                  .best = NAN,
                                                                  .at = NAN};
    return count >= 0;
}

/* Of a smoothed curve: what it was, behind it. */
static bool add_raw(const struct ui *ui, struct run_chart *made, const struct state_run *run,
                    enum metric metric, struct error *err)
{
    if (made->weight <= 0)
        return true;
    if (!add_series(ui, made, run, metric, 0, err))
        return false;
    made->series[made->chart.count - 1].rank = SERIES_RAW;
    return true;
}

/* What a run with validation rows has been tested with in the end: one point after its last epoch.
 */
static bool add_test(struct run_chart *made, const struct state_run *run, struct error *err)
{
    struct curve curve = curve_of(run, METRIC_TEST_ACC);
    int last = curve_next(&curve, INFINITY, -1);
    if (!run->measure.validated || !isfinite(run->test_acc) || last < 0)
        return true;
    struct chart_point *point = calloc(1, sizeof *point);
    if (!point)
        return error_memory(err, "the chart");
    *point = (struct chart_point){axis_at(&made->axis, curve.points[last].epoch), run->test_acc};
    made->series[made->chart.count++] = (struct chart_series){.points = point,
                                                              .count = 1,
                                                              .rank = SERIES_COMPANION,
                                                              .name = "test",
                                                              .mark = '*',
                                                              .last = run->test_acc,
                                                              .best = NAN,
                                                              .at = NAN};
    return true;
}

static bool add_companion(const struct ui *ui, struct run_chart *made, const struct state_run *run,
                          struct error *err)
{
    const enum metric companion = metric_look(made->metric)->companion;
    const struct metric_look *look = metric_look(companion);
    if (look->top == 1 && !add_test(made, run, err))
        return false;
    if (!add_raw(ui, made, run, companion, err) ||
        !add_series(ui, made, run, companion, made->weight, err))
        return false;
    made->series[made->chart.count - 1].rank = SERIES_COMPANION;
    made->series[made->chart.count - 1].name =
        run->measure.validated && !look->fine ? "val" : look->name;
    return true;
}

static bool add_front(const struct ui *ui, struct run_chart *made, const struct state_run *run,
                      struct error *err)
{
    if (run_curves_has_companion(ui, run, made->metric) && !add_companion(ui, made, run, err))
        return false;
    if (made->metric == METRIC_LR && run->run == ui->state.live.run &&
        !add_rest(ui, made, run, err))
        return false;
    if (!add_raw(ui, made, run, made->metric, err) ||
        !add_series(ui, made, run, made->metric, made->weight, err))
        return false;
    made->series[made->chart.count - 1].rank = SERIES_MAIN;
    return true;
}

bool run_curves_add(const struct ui *ui, struct run_chart *made,
                    const struct state_run *const *runs, int count, struct error *err)
{
    for (int i = 0; i < count - 1; i++)
        if (!add_series(ui, made, runs[i], made->metric, made->weight, err))
            return false;
    return count == 0 || add_front(ui, made, runs[count - 1], err);
}

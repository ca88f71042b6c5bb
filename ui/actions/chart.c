/* SPDX-License-Identifier: MIT */
#include "ui/actions/chart.h"

#include <math.h>

#include "ui/chart/scale.h"
#include "ui/panels/chart.h"

/* What keys do in the chart: choose a metric, read values, zoom. */

/* The front run's curve; false when there is nothing to read. */
static bool front_curve(const struct ui *ui, struct curve *curve)
{
    const struct state_run *front = ui_chart_front(ui);
    if (!front)
        return false;
    *curve = curve_of(front, ui->chart.metric);
    return curve_next(curve, INFINITY, -1) >= 0;
}

static double newest_epoch(const struct curve *curve)
{
    return curve->points[curve_next(curve, INFINITY, -1)].epoch;
}

static double zoomed_span(const struct ui *ui)
{
    return ui->chart.from < ui->chart.to ? ui->chart.to - ui->chart.from : 0;
}

/* Fewer epochs would show two or three points. */
static double least_span(const struct ui *ui)
{
    struct curve curve;
    if (!front_curve(ui, &curve))
        return 1;
    return fmax(4 * newest_epoch(&curve) / curve.count, 1e-6);
}

/* Show from..from + span, as far as there are epochs; all when that is all. */
static void set_window(struct ui *ui, double from, double span)
{
    double low, high;
    run_chart_bounds(ui, &low, &high);
    if (span >= high - low) {
        ui->chart.from = ui->chart.to = 0;
        return;
    }
    ui->chart.from = fmax(low, fmin(from, high - span));
    ui->chart.to = ui->chart.from + span;
}

/*
 * Zoom around the cursor, or to the newest point: of a running run with a quarter of the
 * window ahead of it, so that the curve has room to grow into.
 */
static void zoom(struct ui *ui, double factor)
{
    struct curve curve;
    double low, high;
    if (!front_curve(ui, &curve))
        return;
    run_chart_window(ui, &low, &high);
    double span = (high - low) * factor, newest = newest_epoch(&curve);
    if (ui->chart.reading)
        set_window(ui, ui->chart.cursor - span / 2, span);
    else
        set_window(ui, newest - span * (run_has_ended(curve.run) ? 1 : 0.75), span);
    ui->chart.follow = newest >= ui->chart.from && newest <= ui->chart.to;
}

/* Turn pages of half a window until `epoch` is in sight. */
static void bring_into_sight(struct ui *ui, double epoch)
{
    double page = zoomed_span(ui) / 2;
    if (page <= 0)
        return;
    if (epoch > ui->chart.to)
        set_window(ui, ui->chart.from + page * ceil((epoch - ui->chart.to) / page), 2 * page);
    else if (epoch < ui->chart.from)
        set_window(ui, ui->chart.from - page * ceil((ui->chart.from - epoch) / page), 2 * page);
}

/* The point that the cursor goes to; -1: none. */
static int cursor_target(const struct ui *ui, const struct curve *curve, enum action action)
{
    const double a_little = 1e-9;
    double cursor = ui->chart.cursor, low, high;
    run_chart_window(ui, &low, &high);
    if (action == ACTION_FIRST)
        return curve_next(curve, -INFINITY, 1);
    if (action == ACTION_LAST)
        return curve_next(curve, INFINITY, -1);
    if (!ui->chart.reading)
        return curve_nearest(curve, fmin(high, newest_epoch(curve)));
    switch (action) {
    case ACTION_CURSOR_LEFT:
        return curve_next(curve, cursor, -1);
    case ACTION_CURSOR_RIGHT:
        return curve_next(curve, cursor, 1);
    case ACTION_PAGE_UP:
        return curve_next(curve, ceil(cursor - a_little) - 1 + a_little, -1);
    default:
        return curve_next(curve, floor(cursor + a_little) + 1 - a_little, 1);
    }
}

static void move_cursor(struct ui *ui, enum action action)
{
    struct curve curve;
    if (!front_curve(ui, &curve))
        return;
    int point = cursor_target(ui, &curve, action);
    if (point >= 0)
        ui->chart.cursor = curve.points[point].epoch;
    ui->chart.reading = ui->chart.reading || point >= 0;
    if (ui->chart.reading)
        bring_into_sight(ui, ui->chart.cursor);
}

static void show_all(struct ui *ui)
{
    ui->chart.from = ui->chart.to = 0;
    ui->chart.reading = ui->chart.follow = false;
}

/* Keep the axis by keeping the values that it was made for: it is the same at every size. */
static void fix_scale(struct ui *ui)
{
    struct run_chart made;
    struct error err = ERROR_INIT;
    if (ui->chart.fixed) {
        ui->chart.fixed = false;
        ui_say(ui, false, "the y axis fits the curves again");
        return;
    }
    if (!run_chart_make(ui, ui->chart.metric, &made, &err))
        ui_say(ui, true, "%s", err.text);
    else if (chart_range(&made.chart, &ui->chart.low, &ui->chart.high))
        ui->chart.fixed = true;
    if (ui->chart.fixed && made.chart.logarithmic) {
        ui->chart.low = pow(10, ui->chart.low);
        ui->chart.high = pow(10, ui->chart.high);
    }
    run_chart_free(&made);
    if (ui->chart.fixed)
        ui_say(ui, false, "the y axis stays as it is, until the same key or another metric");
}

static void choose_metric(struct ui *ui, enum metric metric)
{
    if (metric != ui->chart.metric)
        ui->chart.fixed = false;
    ui->chart.metric = metric;
}

bool chart_can(const struct ui *ui, enum action action)
{
    struct curve curve;
    double low, high;
    switch (action) {
    case ACTION_CURSOR_LEFT:
    case ACTION_CURSOR_RIGHT:
        return front_curve(ui, &curve);
    case ACTION_ZOOM_IN:
        run_chart_window(ui, &low, &high);
        return front_curve(ui, &curve) && (high - low) / 2 >= least_span(ui);
    case ACTION_ZOOM_OUT:
        return zoomed_span(ui) > 0;
    case ACTION_ZOOM_ALL:
        return zoomed_span(ui) > 0 || ui->chart.reading;
    case ACTION_FIX_SCALE:
        return ui->chart.fixed || front_curve(ui, &curve);
    case ACTION_LOG_SCALE:
        return run_charts_are_two(ui) || metric_look(ui->chart.metric)->top != 1;
    case ACTION_COMPANION:
        return run_charts_are_two(ui) ||
               metric_look(ui->chart.metric)->companion != ui->chart.metric;
    case ACTION_BACK:
        return ui->chart.reading;
    default:
        return true;
    }
}

bool chart_say_why_not(struct ui *ui, enum action action)
{
    const bool reads = action == ACTION_CURSOR_LEFT || action == ACTION_CURSOR_RIGHT;
    if (reads && ui->view == VIEW_DASHBOARD)
        ui_say(ui, false, "the run in front has no curve to read yet");
    else if (action == ACTION_COMPANION)
        ui_say(ui, false, "only accuracy and loss have a curve of training and one of the test");
    else if (action == ACTION_LOG_SCALE)
        ui_say(ui, false, "the y axis of accuracies is always linear: choose another metric, as 3");
    else if (action == ACTION_ZOOM_IN)
        ui_say(ui, false, "there are no more points to see from nearer");
    else
        return false;
    return true;
}

static bool act_in_focus(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_CURSOR_LEFT:
    case ACTION_CURSOR_RIGHT:
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
    case ACTION_FIRST:
    case ACTION_LAST:
        move_cursor(ui, action);
        return true;
    case ACTION_BACK:
        ui->chart.reading = false;
        chart_follow(ui);
        return true;
    default:
        return false;
    }
}

bool chart_act(struct ui *ui, enum action action)
{
    switch (action) {
    case ACTION_ZOOM_IN:
        zoom(ui, 0.5);
        return true;
    case ACTION_ZOOM_OUT:
        zoom(ui, 2);
        return true;
    case ACTION_ZOOM_ALL:
        show_all(ui);
        return true;
    case ACTION_FIX_SCALE:
        fix_scale(ui);
        return true;
    case ACTION_X_AXIS:
        ui->preferences.x_axis = (enum x_axis)((ui->preferences.x_axis + 1) % X_AXES);
        return true;
    case ACTION_LOG_SCALE:
        ui->preferences.y_axis = ui->preferences.y_axis == Y_LINEAR ? Y_LOGARITHMIC : Y_LINEAR;
        return true;
    case ACTION_SMOOTHING:
        ui->preferences.smoothing = (enum smoothing)((ui->preferences.smoothing + 1) % SMOOTHINGS);
        return true;
    case ACTION_COMPANION:
        ui->chart.companion = !ui->chart.companion;
        return true;
    case ACTION_TEST_ACC:
    case ACTION_TRAIN_ACC:
    case ACTION_TRAIN_LOSS:
    case ACTION_TEST_LOSS:
    case ACTION_SPEED:
    case ACTION_LR:
    case ACTION_NOISE:
    case ACTION_ENERGY:
    case ACTION_SAMPLES_PER_J:
        choose_metric(ui, (enum metric)(METRIC_TEST_ACC + (action - ACTION_TEST_ACC)));
        return true;
    case ACTION_NEXT_METRIC:
        choose_metric(ui, (enum metric)((ui->chart.metric + 1) % METRIC_COUNT));
        return true;
    default:
        return ui->focus == PANEL_CHART && act_in_focus(ui, action);
    }
}

void chart_follow(struct ui *ui)
{
    const struct state_run *front = ui_chart_front(ui);
    struct curve curve;
    if (front && front->run != ui->chart.front) {
        /* Epochs of one run say nothing about those of another. */
        if (ui->chart.front != 0)
            show_all(ui);
        ui->chart.front = front->run;
    }
    if (ui->chart.follow && !ui->chart.reading && front_curve(ui, &curve))
        bring_into_sight(ui, newest_epoch(&curve));
}

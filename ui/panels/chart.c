/* SPDX-License-Identifier: MIT */
#include "ui/panels/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/figure.h"
#include "events/changes.h"
#include "ui/panels/chart_advice.h"
#include "ui/panels/schedule.h"

void run_chart_bounds(const struct ui *ui, double *low, double *high)
{
    const struct state_run *front = ui_chart_front(ui);
    bool fine = metric_look(ui->chart.metric)->fine || run_charts_are_two(ui) ||
                run_curves_has_companion(ui, front, ui->chart.metric);
    /* Before the first epoch has ended there is nothing to test. */
    *low = fine ? 0 : 1;
    *high = *low + 1;
    if (front && front->point_count > 0)
        *high = fmax(*high, front->points[front->point_count - 1].epoch);
    if (front && front->fine_count > 0)
        *high = fmax(*high, front->fine[front->fine_count - 1].epoch);
    /* The axis has room for the whole run from the start, so that its curve only grows. */
    if (front && front->run == ui->state.live.run && isfinite(front->epochs))
        *high = fmax(*high, front->epochs);
}

void run_chart_window(const struct ui *ui, double *low, double *high)
{
    if (ui->chart.from < ui->chart.to) {
        *low = ui->chart.from;
        *high = ui->chart.to;
    } else {
        run_chart_bounds(ui, low, high);
    }
}

/* The point of the front run's curve at the cursor; -1: none. */
static int point_at_cursor(const struct ui *ui, struct curve *curve)
{
    const struct state_run *front = ui_chart_front(ui);
    if (!front || !ui->chart.reading || ui->focus != PANEL_CHART)
        return -1;
    *curve = curve_of(front, ui->chart.metric);
    return curve_nearest(curve, ui->chart.cursor);
}

/* The newest change of a run up to `epoch` and after `after`; NULL: none. */
static const struct retune *change_within(const struct state_run *run, double after, double epoch)
{
    for (int i = run->retune_count - 1; i >= 0; i--) {
        double at = retune_epoch(run, &run->retunes[i]);
        if (at > after && at <= epoch)
            return &run->retunes[i];
    }
    return NULL;
}

/* The change that shows between the point at the cursor and the one before it. */
static const struct retune *change_at(const struct curve *curve, int point)
{
    int before = curve_next(curve, curve->points[point].epoch, -1);
    return change_within(curve->run, before >= 0 ? curve->points[before].epoch : -1,
                         curve->points[point].epoch);
}

static void describe_change(const struct retune *retune, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (retune)
        retune_text(
            buffer, size, retune->what,
            &(struct retune_figures){retune->from, retune->to, retune->scale, retune->step});
}

/* Where the front run was changed, and what the note says of it. */
static void add_changes(const struct ui *ui, struct run_chart *made, const struct state_run *front)
{
    int first = front->retune_count > RUN_CHART_MARKS ? front->retune_count - RUN_CHART_MARKS : 0;
    const struct retune *said =
        front->retune_count > 0 ? &front->retunes[front->retune_count - 1] : NULL;
    struct curve curve, own = curve_of(front, made->metric);
    int at = point_at_cursor(ui, &curve);
    for (int i = first; i < front->retune_count; i++)
        made->marks[made->chart.mark_count++] =
            axis_at(&made->axis, retune_epoch(front, &front->retunes[i]));
    if (made->chart.reading)
        said = at >= 0 ? change_at(&curve, at) : NULL;
    if (made->metric == ui->chart.metric)
        describe_change(said, made->note, sizeof made->note);
    if (!made->chart.reading && ui->mark_count > UI_MARKS_DRAWN)
        snprintf(made->note, sizeof made->note, "%d of %d marked runs are drawn", UI_MARKS_DRAWN,
                 ui->mark_count);
    if (run_curves_stands_in(front, made->metric))
        snprintf(made->note, sizeof made->note, "the first test comes after epoch 1");
    else if (made->chart.count > 0 && front->point_count > 0 && !isfinite(curve_last(&own)))
        snprintf(made->note, sizeof made->note, "run %ld has none", front->run);
}

/* Of what is drawn: epochs are evaluated on validation rows where a run has some. */
static const char *metric_title(const struct ui *ui, enum metric metric)
{
    const struct state_run *runs[UI_CHART_RUNS];
    const bool loss = metric == METRIC_TEST_LOSS;
    const int count = ui_chart_runs(ui, runs);
    int validated = 0;
    for (int i = 0; i < count; i++)
        validated += runs[i]->measure.validated;
    if (validated == 0 || (metric != METRIC_TEST_ACC && !loss))
        return metric_look(metric)->title;
    if (validated == count)
        return loss ? "Validation loss" : "Validation accuracy";
    return loss ? "Validation or test loss" : "Validation or test accuracy";
}

static void write_title(const struct ui *ui, struct run_chart *made)
{
    struct figure cursor;
    char at[48] = "", smoothed[24] = "";
    if (made->chart.reading)
        snprintf(at, sizeof at, " at %s%s%s", made->axis.kind == X_STEPS ? "step " : "",
                 made->axis.kind == X_STEPS ? figure_whole(&cursor, made->chart.cursor)
                                            : figure_digits(&cursor, made->chart.cursor, 4),
                 made->axis.kind == X_SECONDS ? " s" : "");
    if (made->weight > 0)
        snprintf(smoothed, sizeof smoothed, ", smoothed %.1f", made->weight);
    snprintf(made->title, sizeof made->title, "%s%s%s%s%s", metric_title(ui, made->metric), at,
             !made->chart.logarithmic ? ""
             : made->left_out         ? ", log of values > 0"
                                      : ", log",
             smoothed, made->chart.fixed ? ", y fixed" : "");
}

/* The window and the cursor, which are in epochs, as places on the x axis of the front run. */
static void place_window(const struct ui *ui, struct run_chart *made, const struct state_run *front,
                         double cursor)
{
    struct chart *chart = &made->chart;
    const bool zoomed = ui->chart.from < ui->chart.to;
    double low, high;
    run_chart_window(ui, &low, &high);
    chart->x_low = axis_at(&made->axis, low);
    chart->x_high = axis_at(&made->axis, high);
    chart->cursor = axis_at(&made->axis, cursor);
    if (made->axis.kind == X_EPOCHS)
        return;
    chart->reading = chart->reading && isfinite(chart->cursor);
    if (!zoomed || !isfinite(chart->x_low))
        chart->x_low = 0;
    if (!isfinite(chart->x_high))
        chart->x_high = 1;
    if (made->axis.kind == X_SECONDS && !zoomed && front && !run_has_ended(front))
        chart->x_high = axis_end(chart->x_high);
}

bool run_chart_make(const struct ui *ui, enum metric metric, struct run_chart *made,
                    struct error *err)
{
    static const char *const labels[X_AXES] = {NULL, "step", "s"};
    const struct state_run *runs[UI_CHART_RUNS];
    const struct metric_look *look = metric_look(metric);
    const bool chosen = metric == ui->chart.metric;
    const bool logarithmic = run_curves_are_logarithmic(ui, metric);
    int count = ui_chart_runs(ui, runs);
    const struct state_run *front = count > 0 ? runs[count - 1] : NULL;
    struct curve curve;
    int at = point_at_cursor(ui, &curve);
    bool lost = ui->link == LINK_LOST || ui->link == LINK_NO_ENGINE;
    *made = (struct run_chart){
        .metric = metric,
        .weight = run_curves_weight(ui, metric),
        .chart = {
            .title = made->title,
            .focused = chosen && ui->view == VIEW_DASHBOARD && ui->focus == PANEL_CHART,
            .advice = lost ? ui->link_advice : made->advice,
            .note = made->note,
            .x_label = labels[ui->preferences.x_axis],
            .x_fractions = ui->chart.from < ui->chart.to || ui->preferences.x_axis == X_SECONDS,
            .y_floor = look->floor,
            .y_top = look->top,
            .from_zero = look->unit != CHART_PLAIN,
            .fits_front = true,
            .may_diverge = look->low_is_good && look->unit == CHART_PLAIN && !logarithmic,
            .logarithmic = logarithmic,
            .fixed = chosen && ui->chart.fixed && (!logarithmic || ui->chart.low > 0),
            .low = logarithmic ? log10(ui->chart.low) : ui->chart.low,
            .high = logarithmic ? log10(ui->chart.high) : ui->chart.high,
            .unit = look->unit,
            .decimals = 3,
            .marks = made->marks,
            .reading = at >= 0,
            .canvas = ui->preferences.canvas,
            .series = made->series,
        }};
    if (!axis_open(&made->axis, ui->preferences.x_axis, front, err))
        return false;
    place_window(ui, made, front, at >= 0 ? curve.points[at].epoch : 0);
    bool ok = run_curves_add(ui, made, runs, count, err);
    if (front)
        add_changes(ui, made, front);
    chart_advice(ui, front, metric, made->advice, sizeof made->advice);
    write_title(ui, made);
    return ok;
}

void run_chart_free(struct run_chart *made)
{
    for (int i = 0; i < made->chart.count; i++)
        free((void *)(uintptr_t)made->series[i].points);
    made->chart.count = 0;
    axis_close(&made->axis);
}

void run_chart_hint(const struct ui *ui, char *buffer, size_t size)
{
    const struct state_run *front = ui_chart_front(ui);
    struct curve curve;
    int at = point_at_cursor(ui, &curve);
    struct figure epoch, step, lr, end;
    char change[96];
    double low, high;
    buffer[0] = '\0';
    if (at >= 0) {
        const struct epoch_point *point = &curve.points[at];
        struct curve rates = curve_of(front, METRIC_LR);
        int rate = curve_nearest(&rates, point->epoch);
        describe_change(change_at(&curve, at), change, sizeof change);
        snprintf(buffer, size, "run %ld, epoch %s, step %s: lr %s%s%s", front->run,
                 figure_digits(&epoch, point->epoch, 4), figure_whole(&step, point->step),
                 figure_digits(&lr, rate >= 0 ? curve_value(&rates, rate) : NAN, 4),
                 change[0] != '\0' ? "; " : "", change);
    } else if (ui->chart.from < ui->chart.to) {
        run_chart_bounds(ui, &low, &high);
        snprintf(buffer, size, "epochs %s to %s of %s", figure_digits(&epoch, ui->chart.from, 4),
                 figure_digits(&end, ui->chart.to, 4), figure_digits(&step, high, 4));
    } else if (front && front->retune_count > 0) {
        describe_change(&front->retunes[front->retune_count - 1], change, sizeof change);
        snprintf(buffer, size, "run %ld: %s", front->run, change);
    } else if (front) {
        snprintf(buffer, size, "run %ld in front: %s on %s, lr %s", front->run, front->model,
                 front->data, figure_digits(&lr, front->lr, 4));
    }
}

static bool draw_chart(const struct ui *ui, enum metric metric, struct surface *surface,
                       struct rect area, struct error *err)
{
    struct run_chart made;
    bool ok = run_chart_make(ui, metric, &made, err) && chart_draw(&made.chart, surface, area, err);
    run_chart_free(&made);
    return ok;
}

bool panel_chart(const struct ui *ui, struct surface *surface, struct rect area, struct error *err)
{
    enum { GAP = 3 };
    const struct metric_look *look = metric_look(ui->chart.metric);
    /* Accuracies, which end at 1, stand at the right. */
    const bool turned = look->top == 1;
    struct rect left = area, right = area;
    if (schedule_in_focus(ui))
        return panel_schedule(ui, surface, area, err);
    /* What to do without a run is said once. */
    if (!run_charts_are_two(ui) || !ui_chart_front(ui))
        return draw_chart(ui, ui->chart.metric, surface, area, err);
    left.w = (area.w - GAP) / 2;
    right.x += left.w + GAP;
    right.w -= left.w + GAP;
    return draw_chart(ui, turned ? look->beside : ui->chart.metric, surface, left, err) &&
           draw_chart(ui, turned ? ui->chart.metric : look->beside, surface, right, err);
}

/* SPDX-License-Identifier: MIT */
#include "ui/session/comparison.h"

#include <math.h>
#include <string.h>

#include "ui/session/ui.h"

int comparison_cores(const struct ui *ui)
{
    for (int i = 0; i < ui->state.device_count; i++)
        if (ui->state.devices[i].id.kind == DEVICE_CPU)
            return ui->state.devices[i].cores;
    return 0;
}

/* Which of several runs on as many devices is shown, from the strongest reason to the weakest. */
enum { PREFER_SWEEP = 1, PREFER_MARKED = 2, PREFER_ANCHOR = 4 };

/* Repeats whose epochs are asked for: fewer than the curves that are known at a time. */
enum { REPEATS_WANTED = STATE_MAX_CURVES / 2 };

/* The kind of a list such as "cpu:0-1"; of mixed ones the first. */
static const char *kind_of(const char *devices)
{
    return strncmp(devices, "cpu", 3) == 0 ? "cpu" : strncmp(devices, "cuda", 4) == 0 ? "cuda" : "";
}

/* Not one that was taken out of the queue. */
static bool has_speed(const struct state_run *run)
{
    return !run_has_ended(run) || run->samples_per_s > 0;
}

struct series_run comparison_run(const struct ui *ui, const struct state_run *run,
                                 const struct state_run *anchor)
{
    return (struct series_run){
        .run = run->run,
        .model = run->model,
        .data = run->data,
        .split = run->split,
        .sync = run->sync,
        .strategy = run->setting.strategy,
        .device_kind = kind_of(run->devices),
        .device_list = run->devices,
        .note = run->note,
        .settings = run->setting.digest,
        .threads = run->setting.threads,
        .devices = run->device_count,
        .batch = run->batch,
        .lr = run->lr,
        .measure = &run->measure,
        .samples_per_s = run->run == ui->state.live.run ? ui->state.live.samples_per_s : NAN,
        .has_speed = run->samples_per_s > 0 || run->run == ui->state.live.run,
        .done = run->status == RUN_DONE,
        .failed = run->status == RUN_FAILED,
        .preference =
            (run == anchor ? PREFER_ANCHOR : 0) + (ui_is_marked(ui, run->run) ? PREFER_MARKED : 0) +
            (series_is_one_plan(run->note, anchor->note) && has_speed(run) ? PREFER_SWEEP : 0),
    };
}

/* What is compared by default: the newest that ended with a speed, or the newest. */
static const struct state_run *newest_ended(const struct ui *ui)
{
    for (int i = 0; i < ui->state.run_count; i++) {
        const struct state_run *run = ui_run_line(ui, i);
        if (run_has_ended(run) && run->samples_per_s > 0)
            return run;
    }
    return ui_run_line(ui, 0);
}

const struct state_run *comparison_anchor(const struct ui *ui)
{
    const struct state_run *anchor = state_run(&ui->state, ui->compare.anchor);
    return anchor ? anchor : newest_ended(ui);
}

/* May its settings, which are not known, still become known? */
static bool may_be_asked(const struct state_run *run)
{
    return run->setting.digest != 0 || (!run->curve_known && run->status != RUN_QUEUED);
}

static void make_series(const struct ui *ui, struct comparison *comparison, enum scaling scaling,
                        enum strategy strategy, const struct series_run *measure,
                        struct series *series)
{
    const struct state_run *anchor = comparison->anchor;
    struct series_run run = comparison_run(ui, anchor, anchor);
    struct error ignored = ERROR_INIT; /* short of memory there are no numbers */
    series_begin(series, scaling, strategy, &run, measure, ui->compare.target_acc,
                 comparison->guess);
    for (int i = 0; i < ui->state.run_count; i++) {
        run = comparison_run(ui, &ui->state.runs[i], anchor);
        if (!comparison->guess || may_be_asked(&ui->state.runs[i]))
            series_add(series, &run);
    }
    bool repeats = series_may_repeat(series);
    for (int i = 0; repeats && i < ui->state.run_count; i++) {
        run = comparison_run(ui, &ui->state.runs[i], anchor);
        series_add_repeat(series, &run);
    }
    series_finish(series, &ignored);
}

/*
 * Both kinds of series through the anchor. Where one has the anchor alone, it goes through the
 * other's fewest devices instead: next to the runs with the batch of run 3 stand those whose batch
 * grew from the same single device.
 */
static void make_both(const struct ui *ui, struct comparison *comparison, enum strategy strategy,
                      const struct series_run *run)
{
    struct series *strong = &comparison->series[0], *weak = &comparison->series[1];
    make_series(ui, comparison, SCALING_STRONG, strategy, run, strong);
    make_series(ui, comparison, SCALING_WEAK, strategy, run, weak);
    if (weak->count < 2 && strong->count > 1)
        make_series(ui, comparison, SCALING_WEAK, strategy, &strong->rows[0].run, weak);
    else if (strong->count < 2 && weak->count > 1)
        make_series(ui, comparison, SCALING_STRONG, strategy, &weak->rows[0].run, strong);
    comparison->count = weak->count > 1 ? 2 : 1;
    if (strong->count < 2 && weak->count > 1) {
        *strong = *weak;
        comparison->count = 1;
    }
}

/* On a single device other strategies have nothing of their own. */
static bool divides(const struct series *series)
{
    return series->count > 0 && series->rows[series->count - 1].run.devices > 1;
}

/* The same with another strategy, where the anchor alone may have nothing to compare it with. */
static void add_other(const struct ui *ui, struct comparison *comparison, enum strategy strategy,
                      const struct series_run *run)
{
    struct series *first = &comparison->series[0];
    struct series *other = &comparison->series[comparison->count];
    make_series(ui, comparison, first->scaling, strategy,
                first->count > 1 ? &first->rows[0].run : run, other);
    if (!divides(other))
        return;
    if (divides(first) || other->count < 2)
        comparison->count++;
    else
        *first = *other;
}

static void make_all(const struct ui *ui, struct comparison *comparison)
{
    comparison->anchor = comparison_anchor(ui);
    comparison->count = 0;
    if (!comparison->anchor)
        return;
    struct series_run run = comparison_run(ui, comparison->anchor, comparison->anchor);
    enum strategy strategy = series_strategy(&run);
    make_both(ui, comparison, strategy, &run);
    for (int i = 0; i < STRATEGIES; i++)
        if ((enum strategy)i != strategy)
            add_other(ui, comparison, (enum strategy)i, &run);
}

void comparison_make(const struct ui *ui, struct comparison *comparison)
{
    comparison->guess = false;
    make_all(ui, comparison);
}

void comparison_want(struct ui *ui, void (*want)(struct ui *ui, long run))
{
    struct comparison comparison = {.guess = true};
    int repeats = 0;
    make_all(ui, &comparison);
    if (comparison.anchor)
        want(ui, comparison.anchor->run);
    for (int i = 0; i < comparison_lines(&comparison); i++) {
        const struct series_row *row = comparison_row(&comparison, i, NULL);
        want(ui, row->run.run);
        for (int j = 0; j < ui->state.run_count && repeats < REPEATS_WANTED; j++) {
            struct series_run run = comparison_run(ui, &ui->state.runs[j], comparison.anchor);
            if (!series_is_repeat(row, &run))
                continue;
            want(ui, run.run);
            repeats++;
        }
    }
}

bool comparison_says_something(const struct comparison *comparison)
{
    return comparison_lines(comparison) > 1;
}

const struct series_row *comparison_rival(const struct comparison *comparison,
                                          const struct series *series, const struct series_row *row)
{
    const struct series_row *rival = NULL;
    double most = 0;
    for (int i = 0; i < comparison->count; i++) {
        const struct series *other = &comparison->series[i];
        if (other->strategy == series->strategy || other->scaling != series->scaling)
            continue;
        for (int j = 0; j < other->count; j++) {
            const struct series_row *there = &other->rows[j];
            const double speed = there->outcome.samples_per_s.median;
            if (there->run.devices != row->run.devices || row->run.devices < 2 || !(speed > most))
                continue;
            rival = there;
            most = speed;
        }
    }
    return rival;
}

bool comparison_foresee(const struct ui *ui, const struct series *series,
                        struct forecast_basis *basis, struct forecast *forecast)
{
    struct error ignored = ERROR_INIT; /* what is missing is for those who asked */
    forecast_of_series(basis, series, comparison_cores(ui));
    return basis->count > 0 && forecast_make(basis, 2 * forecast_most(basis), forecast, &ignored);
}

int comparison_lines(const struct comparison *comparison)
{
    int lines = 0;
    for (int i = 0; i < comparison->count; i++)
        lines += comparison->series[i].count;
    return lines;
}

const struct series_row *comparison_row(const struct comparison *comparison, int line,
                                        const struct series **series)
{
    for (int i = 0; i < comparison->count && line >= 0; i++) {
        if (line < comparison->series[i].count) {
            if (series)
                *series = &comparison->series[i];
            return &comparison->series[i].rows[line];
        }
        line -= comparison->series[i].count;
    }
    return NULL;
}

int comparison_line(const struct ui *ui, const struct comparison *comparison)
{
    const struct series_row *row = comparison_row(comparison, ui->line, NULL);
    if (row && row->run.run == ui->selected_run)
        return ui->line;
    for (int i = 0; i < comparison_lines(comparison); i++)
        if (comparison_row(comparison, i, NULL)->run.run == ui->selected_run)
            return i;
    return -1;
}

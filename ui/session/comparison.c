/* SPDX-License-Identifier: MIT */
#include "ui/session/comparison.h"

#include <math.h>
#include <string.h>

#include "ui/session/ui.h"

/* Which of several runs on as many devices is shown, from the strongest reason to the weakest. */
enum { PREFER_SWEEP = 1, PREFER_MARKED = 2, PREFER_ANCHOR = 4 };

/* The kind of a list such as "cpu:0-1"; of mixed ones the first. */
static const char *kind_of(const char *devices)
{
    return strncmp(devices, "cpu", 3) == 0 ? "cpu" : strncmp(devices, "cuda", 4) == 0 ? "cuda" : "";
}

static bool same_sweep(const struct state_run *a, const struct state_run *b)
{
    return strncmp(a->note, SWEEP_NOTE_PREFIX, strlen(SWEEP_NOTE_PREFIX)) == 0 &&
           strcmp(a->note, b->note) == 0;
}

/* Not for a run that was taken out of the queue. */
static bool may_tell(const struct state_run *run)
{
    return !run_has_ended(run) || run->samples_per_s > 0;
}

static struct compare_run as_row(const struct ui *ui, const struct state_run *run,
                                 const struct state_run *anchor)
{
    double speed = run->samples_per_s;
    /* Before its first epoch has ended a run tells at least how fast it goes. */
    if (!isfinite(speed) && run->run == ui->state.live.run)
        speed = ui->state.live.samples_per_s;
    return (struct compare_run){
        .run = run->run,
        .model = run->model,
        .data = run->data,
        .split = run->split,
        .sync = run->sync,
        .device_kind = kind_of(run->devices),
        .settings = run->setting.digest,
        .threads = run->setting.threads,
        .devices = run->device_count,
        .batch = run->batch,
        .lr = run->lr,
        .s_per_epoch = run->s_per_epoch,
        .samples_per_s = speed,
        .epochs_done = run->epochs_done,
        .test_acc = run->test_acc,
        .failed = run->status == RUN_FAILED,
        .preference = (run == anchor ? PREFER_ANCHOR : 0) +
                      (ui_is_marked(ui, run->run) ? PREFER_MARKED : 0) +
                      (same_sweep(run, anchor) && may_tell(run) ? PREFER_SWEEP : 0),
    };
}

/* What is worth comparing when nobody says: the newest that ended with figures, or the newest. */
static const struct state_run *newest_ended(const struct ui *ui)
{
    for (int i = 0; i < ui->state.run_count; i++) {
        const struct state_run *run = ui_run_line(ui, i);
        if (run_has_ended(run) && run->samples_per_s > 0)
            return run;
    }
    return ui_run_line(ui, 0);
}

static const struct state_run *anchor_of(const struct ui *ui)
{
    const struct state_run *anchor = state_run(&ui->state, ui->compare.anchor);
    return anchor ? anchor : newest_ended(ui);
}

static void make_series(const struct ui *ui, const struct state_run *anchor, enum compare_kind kind,
                        const struct compare_run *measure, struct compare_series *series)
{
    struct compare_run row = as_row(ui, anchor, anchor);
    compare_begin(series, kind, &row, measure);
    for (int i = 0; i < ui->state.run_count; i++) {
        row = as_row(ui, &ui->state.runs[i], anchor);
        compare_add(series, &row);
    }
    compare_finish(series);
}

/*
 * Both kinds of series through the anchor. Where one has the anchor alone, it goes through the
 * other's fewest devices instead: next to the runs with the batch of run 3 stand those whose batch
 * grew from the same single device.
 */
void comparison_make(const struct ui *ui, struct comparison *comparison)
{
    struct compare_series *fixed = &comparison->series[0], *growing = &comparison->series[1];
    comparison->anchor = anchor_of(ui);
    comparison->count = 0;
    if (!comparison->anchor)
        return;
    struct compare_run row = as_row(ui, comparison->anchor, comparison->anchor);
    make_series(ui, comparison->anchor, COMPARE_FIXED, &row, fixed);
    make_series(ui, comparison->anchor, COMPARE_GROWING, &row, growing);
    if (growing->count < 2 && fixed->count > 1)
        make_series(ui, comparison->anchor, COMPARE_GROWING, &fixed->rows[0].run, growing);
    else if (fixed->count < 2 && growing->count > 1)
        make_series(ui, comparison->anchor, COMPARE_FIXED, &growing->rows[0].run, fixed);
    comparison->count = growing->count > 1 ? 2 : 1;
    if (fixed->count < 2 && growing->count > 1) {
        *fixed = *growing;
        comparison->count = 1;
    }
}

bool comparison_says_something(const struct comparison *comparison)
{
    return comparison->count > 0 && comparison->series[0].count > 1;
}

int comparison_lines(const struct comparison *comparison)
{
    int lines = 0;
    for (int i = 0; i < comparison->count; i++)
        lines += comparison->series[i].count;
    return lines;
}

const struct compare_row *comparison_row(const struct comparison *comparison, int line,
                                         const struct compare_series **series)
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
    const struct compare_row *row = comparison_row(comparison, ui->line, NULL);
    if (row && row->run.run == ui->selected_run)
        return ui->line;
    for (int i = 0; i < comparison_lines(comparison); i++)
        if (comparison_row(comparison, i, NULL)->run.run == ui->selected_run)
            return i;
    return -1;
}

/* SPDX-License-Identifier: MIT */
#include "experiment/series.h"

#include <math.h>
#include <string.h>

#include "experiment/study.h"
#include "spec/names.h"

/* Equal but for the rounding of numbers that were written as text. */
static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool same_text(const char *a, const char *b, bool guess)
{
    return a[0] == '\0' || b[0] == '\0' ? guess : strcmp(a, b) == 0;
}

/* "weighted:1,2" and "weighted:1,2,4" are the same rule. */
static bool same_rule(const char *a, const char *b, bool guess)
{
    size_t length = strcspn(a, ":");
    if (a[0] == '\0' || b[0] == '\0')
        return guess;
    return length == strcspn(b, ":") && strncmp(a, b, length) == 0;
}

bool series_is_one_plan(const char *note, const char *other)
{
    bool sweep = strncmp(note, SWEEP_NOTE_PREFIX, strlen(SWEEP_NOTE_PREFIX)) == 0;
    return sweep ? strcmp(note, other) == 0 : study_is_same(note, other);
}

bool series_alike(const struct series_run *a, const struct series_run *b, bool guess)
{
    if (a->run == b->run)
        return true;
    guess |= series_is_one_plan(a->note, b->note);
    bool known = a->settings != 0 && b->settings != 0;
    return same_text(a->model, b->model, guess) && same_text(a->data, b->data, guess) &&
           same_rule(a->split, b->split, guess) && same_text(a->sync, b->sync, guess) &&
           same_text(a->device_kind, b->device_kind, guess) &&
           (known ? a->settings == b->settings : guess);
}

enum strategy series_strategy(const struct series_run *run)
{
    enum strategy strategy;
    return strategy_find(run->strategy, &strategy) ? strategy : STRATEGY_DATA;
}

void series_begin(struct series *series, enum scaling scaling, enum strategy strategy,
                  const struct series_run *anchor, const struct series_run *measure,
                  double target_acc, bool guess)
{
    double share = scaling == SCALING_WEAK && measure->devices > 0 ? measure->devices : 1;
    series->scaling = scaling;
    series->strategy = strategy;
    series->anchor = *anchor;
    series->guess = guess;
    series->target_acc = target_acc;
    series->batch = measure->batch / share;
    series->lr = measure->lr / share;
    series->count = 0;
    series->base = -1;
    series->threads_differ = false;
}

/* Or one device with data, which has nothing to divide. */
static bool has_strategy(const struct series *series, const struct series_run *run)
{
    return same_text(strategy_name(series->strategy), run->strategy, series->guess) ||
           (run->devices == 1 && series_strategy(run) == STRATEGY_DATA);
}

/* Batch and rate of this series? A grown batch was rounded to whole rows. */
static bool fits(const struct series *series, const struct series_run *run)
{
    if (run->devices <= 0 || !has_strategy(series, run) ||
        !series_alike(&series->anchor, run, series->guess))
        return false;
    if (series->scaling == SCALING_STRONG)
        return run->batch == series->batch && near(run->lr, series->lr, 1e-6);
    double batch = series->batch * run->devices, lr = series->lr * run->devices;
    return near(run->batch, batch, 0.01) && near(run->lr, lr, 0.01);
}

/* How well the threads agree: 2 they do, 1 not known, 0 they differ. */
static int threads_agree(const struct series_run *run, const struct series_run *anchor)
{
    return run->threads == anchor->threads ? 2 : run->threads == 0 || anchor->threads == 0;
}

/* Is `a` the better one for its row? */
static bool better(const struct series *series, const struct series_run *a,
                   const struct series_run *b)
{
    int threads = threads_agree(a, &series->anchor) - threads_agree(b, &series->anchor);
    if (a->preference != b->preference)
        return a->preference > b->preference;
    if (threads != 0)
        return threads > 0;
    if (a->has_speed != b->has_speed)
        return a->has_speed;
    /* What others are compared with should not change while they are. */
    if (isnan(a->samples_per_s) != isnan(b->samples_per_s))
        return isnan(a->samples_per_s);
    if (a->failed != b->failed)
        return b->failed;
    return a->run > b->run;
}

/* The row for that number of devices, or where it would be. */
static struct series_row *find_row(struct series *series, int devices)
{
    struct series_row *row = series->rows;
    while (row < series->rows + series->count && row->run.devices < devices)
        row++;
    return row;
}

void series_add(struct series *series, const struct series_run *run)
{
    struct series_row *row = find_row(series, run->devices);
    struct series_row *end = series->rows + series->count;
    if (!fits(series, run))
        return;
    if (row < end && row->run.devices == run->devices) {
        row->others++;
        if (better(series, run, &row->run))
            row->run = *run;
        return;
    }
    if (series->count == SERIES_ROWS)
        return;
    memmove(row + 1, row, (size_t)(end - row) * sizeof *row);
    *row = (struct series_row){.run = *run};
    series->count++;
}

bool series_is_repeat(const struct series_row *row, const struct series_run *run)
{
    return run->run != row->run.run && study_is_same(row->run.note, run->note) &&
           strcmp(row->run.device_list, run->device_list) == 0;
}

bool series_may_repeat(const struct series *series)
{
    for (int i = 0; i < series->count; i++)
        if (study_is_same(series->rows[i].run.note, series->rows[i].run.note))
            return true;
    return false;
}

void series_add_repeat(struct series *series, const struct series_run *run)
{
    struct series_row *row = find_row(series, run->devices);
    if (row < series->rows + series->count && row->run.done && run->done &&
        series_is_repeat(row, run) && fits(series, run) && row->repeat_count + 1 < SERIES_REPEATS)
        row->repeats[row->repeat_count++] = run->measure;
}

double series_ideal_speed_up(const struct series *series, double devices)
{
    return series->base < 0 ? NAN : devices / series->rows[series->base].run.devices;
}

bool series_outcome(const struct series_run *run, const struct measure *const *measures, int count,
                    double target_acc, struct outcome *outcome, struct error *err)
{
    bool ok = outcome_make(outcome, measures, count, target_acc, err);
    outcome->devices = run->devices;
    outcome->cpus = strcmp(run->device_kind, "cpu") == 0 ? run->devices : 0;
    outcome->threads = run->threads * outcome->cpus;
    outcome->strategy = series_strategy(run);
    /* Before its first epoch has ended a run says at least how fast it is now. */
    if (outcome->samples_per_s.count == 0 && run->samples_per_s > 0) {
        double speed = run->samples_per_s;
        outcome->samples_per_s = spread_of(&speed, 1);
        outcome->warm_up = true;
    }
    return ok;
}

static bool make_outcome(struct series_row *row, double target_acc, struct error *err)
{
    row->repeats[row->repeat_count++] = row->run.measure;
    row->others -= row->repeat_count - 1;
    return series_outcome(&row->run, row->repeats, row->repeat_count, target_acc, &row->outcome,
                          err);
}

bool series_finish(struct series *series, struct error *err)
{
    bool ok = true;
    series->base = -1;
    for (int i = series->count - 1; i >= 0; i--) {
        ok = make_outcome(&series->rows[i], series->target_acc, err) && ok;
        if (series->rows[i].outcome.samples_per_s.median > 0)
            series->base = i;
        for (int j = i + 1; j < series->count; j++)
            series->threads_differ |=
                threads_agree(&series->rows[i].run, &series->rows[j].run) == 0;
    }
    for (int i = 0; i < series->count && series->base >= 0; i++)
        outcome_compare(&series->rows[i].outcome, &series->rows[series->base].outcome);
    return ok;
}

bool series_validated(const struct series *series)
{
    bool validated = false;
    for (int i = 0; i < series->count; i++)
        validated |= series->rows[i].outcome.validated;
    return validated;
}

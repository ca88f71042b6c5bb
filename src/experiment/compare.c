/* SPDX-License-Identifier: MIT */
#include "experiment/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Equal but for the rounding of figures that were written as text. */
static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

static bool same_text(const char *a, const char *b)
{
    return a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0;
}

/* "weighted:1,2" and "weighted:1,2,4" are the same rule. */
static bool same_rule(const char *a, const char *b)
{
    size_t length = strcspn(a, ":");

    return a[0] == '\0' || b[0] == '\0' ||
           (length == strcspn(b, ":") && strncmp(a, b, length) == 0);
}

bool compare_alike(const struct compare_run *a, const struct compare_run *b)
{
    return same_text(a->model, b->model) && same_text(a->data, b->data) &&
           same_rule(a->split, b->split) && same_text(a->sync, b->sync) &&
           same_text(a->device_kind, b->device_kind) &&
           (a->settings == 0 || b->settings == 0 || a->settings == b->settings);
}

void compare_begin(struct compare_series *series, enum compare_kind kind,
                   const struct compare_run *anchor, const struct compare_run *measure)
{
    double share = kind == COMPARE_GROWING && measure->devices > 0 ? measure->devices : 1;

    series->kind = kind;
    series->anchor = *anchor;
    series->batch = measure->batch / share;
    series->lr = measure->lr / share;
    series->count = 0;
    series->base = -1;
    series->threads_differ = false;
}

/* Batch and rate of this kind of series? A grown batch was rounded to whole rows. */
static bool fits(const struct compare_series *series, const struct compare_run *run)
{
    if (series->kind == COMPARE_FIXED)
        return run->batch == series->batch && near(run->lr, series->lr, 1e-6);
    double batch = series->batch * run->devices, lr = series->lr * run->devices;
    return near(run->batch, batch, 0.01) && near(run->lr, lr, 0.01);
}

static bool has_speed(const struct compare_run *run)
{
    return run->samples_per_s > 0 || run->s_per_epoch > 0;
}

/* How well the threads agree: 2 they do, 1 not known, 0 they differ. */
static int threads_agree(const struct compare_run *run, const struct compare_run *anchor)
{
    return run->threads == anchor->threads ? 2 : run->threads == 0 || anchor->threads == 0;
}

/* Is `a` the better one for its row? */
static bool better(const struct compare_series *series, const struct compare_run *a,
                   const struct compare_run *b)
{
    int threads = threads_agree(a, &series->anchor) - threads_agree(b, &series->anchor);

    if (a->preference != b->preference)
        return a->preference > b->preference;
    if (threads != 0)
        return threads > 0;
    if (has_speed(a) != has_speed(b))
        return has_speed(a);
    if (a->failed != b->failed)
        return b->failed;
    return a->run > b->run;
}

void compare_add(struct compare_series *series, const struct compare_run *run)
{
    int at = 0;

    if (run->devices <= 0 || !compare_alike(&series->anchor, run) || !fits(series, run))
        return;
    while (at < series->count && series->rows[at].run.devices < run->devices)
        at++;
    struct compare_row *row = &series->rows[at];
    if (at < series->count && row->run.devices == run->devices) {
        row->others++;
        if (better(series, run, &row->run))
            row->run = *run;
        return;
    }
    if (series->count == COMPARE_ROWS)
        return;
    memmove(row + 1, row, (size_t)(series->count - at) * sizeof *row);
    *row = (struct compare_row){.run = *run};
    series->count++;
}

static double speed_up(const struct compare_run *run, const struct compare_run *base)
{
    if (run->samples_per_s > 0 && base->samples_per_s > 0)
        return run->samples_per_s / base->samples_per_s;
    if (run->s_per_epoch > 0 && base->s_per_epoch > 0)
        return base->s_per_epoch / run->s_per_epoch;
    return NAN;
}

double compare_ideal_speed_up(const struct compare_series *series, double devices)
{
    return series->base < 0 ? NAN : devices / series->rows[series->base].run.devices;
}

void compare_finish(struct compare_series *series)
{
    series->base = -1;
    for (int i = series->count - 1; i >= 0; i--)
        if (has_speed(&series->rows[i].run))
            series->base = i;
    for (int i = 0; i < series->count; i++) {
        struct compare_row *row = &series->rows[i];

        row->speed_up = row->efficiency = row->accuracy_change = NAN;
        for (int j = 0; j < i; j++)
            if (threads_agree(&row->run, &series->rows[j].run) == 0)
                series->threads_differ = true;
        if (series->base < 0)
            continue;
        const struct compare_run *base = &series->rows[series->base].run;
        row->speed_up = speed_up(&row->run, base);
        row->efficiency = row->speed_up / compare_ideal_speed_up(series, row->run.devices);
        /* After another number of epochs the difference would tell of those. */
        if (row->run.epochs_done == base->epochs_done)
            row->accuracy_change = row->run.test_acc - base->test_acc;
    }
}

void compare_sentence(const struct compare_series *series, const struct compare_row *row,
                      char *buffer, size_t size)
{
    char accuracy[80] = "";

    buffer[0] = '\0';
    if (series->base < 0 || row == &series->rows[series->base] || !isfinite(row->speed_up))
        return;
    const struct compare_run *base = &series->rows[series->base].run;
    if (isfinite(row->accuracy_change))
        snprintf(accuracy, sizeof accuracy, ", accuracy %+.3f", row->accuracy_change);
    else if (isfinite(row->run.epochs_done) && isfinite(base->epochs_done) &&
             row->run.epochs_done != base->epochs_done)
        snprintf(accuracy, sizeof accuracy, " (after %.0f epochs, not %.0f)", row->run.epochs_done,
                 base->epochs_done);
    snprintf(buffer, size, "%d device%s %s %.2f times as fast as %d: %.0f%% efficient%s",
             row->run.devices, row->run.devices == 1 ? "" : "s",
             row->run.devices == 1 ? "is" : "are", row->speed_up, base->devices,
             row->efficiency * 100, accuracy);
}

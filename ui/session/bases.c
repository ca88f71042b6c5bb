/* SPDX-License-Identifier: MIT */
#include "ui/session/bases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/session/ui.h"

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

/* By what has to agree: runs that have the same base, unless they are it, stand side by side. */
static int compare_settings(const void *a, const void *b)
{
    const struct state_run *first = *(struct state_run *const *)a;
    const struct state_run *second = *(struct state_run *const *)b;
    const double orders[] = {
        (first->setting.digest > second->setting.digest) -
            (first->setting.digest < second->setting.digest),
        strcmp(first->model, second->model),
        strcmp(first->data, second->data),
        compare_numbers(first->batch, second->batch),
        compare_numbers(first->lr, second->lr),
        first->device_count - second->device_count,
        strcmp(first->split, second->split),
        strcmp(first->sync, second->sync),
        strcmp(first->setting.strategy, second->setting.strategy),
        first->setting.threads - second->setting.threads,
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        if (orders[i] != 0)
            return orders[i] < 0 ? -1 : 1;
    return 0;
}

/* On the fewest devices; NULL: there is no other number of devices, or no speed. */
static const struct series_run *first_with_speed(const struct series *series)
{
    for (int i = 0; i < series->count && series->count > 1; i++)
        if (series->rows[i].run.has_speed)
            return &series->rows[i].run;
    return NULL;
}

/* Among `count` runs of the same digest: with the run's batch, else with its rows per device. */
static long find_base(const struct ui *ui, const struct state_run *run,
                      struct state_run *const *alike, int count)
{
    const struct series_run anchor = comparison_run(ui, run, run), *base = NULL;
    static const enum scaling scalings[] = {SCALING_STRONG, SCALING_WEAK};
    for (int i = 0; i < 2; i++) {
        struct series series;
        series_begin(&series, scalings[i], series_strategy(&anchor), &anchor, &anchor, NAN, false);
        for (int j = 0; j < count; j++) {
            const struct series_run other = comparison_run(ui, alike[j], run);
            series_add(&series, &other);
        }
        base = first_with_speed(&series);
        if (base)
            return base->run;
    }
    return 0;
}

/* Would the compare view show both among the same runs? */
static bool same_question(const struct ui *ui, const struct state_run *a, const struct state_run *b)
{
    const struct series_run first = comparison_run(ui, a, a), second = comparison_run(ui, b, b);
    bool notes = strcmp(a->note, b->note) == 0 || series_is_one_plan(a->note, b->note);
    return notes && strcmp(first.device_kind, second.device_kind) == 0 &&
           compare_settings(&a, &b) == 0;
}

static void find_bases(const struct ui *ui, struct state_run *const *alike, int count)
{
    const struct state_run *before = NULL;
    for (int i = 0; i < count; i++) {
        struct state_run *run = alike[i];
        if (!(run->samples_per_s > 0))
            continue;
        if (before && same_question(ui, before, run))
            run->base = before->base == before->run ? run->run : before->base;
        else
            run->base = find_base(ui, run, alike, count);
        const struct state_run *base = state_run(&ui->state, run->base);
        run->speed_up = base ? run->samples_per_s / base->samples_per_s : NAN;
        before = run;
    }
}

/* Runs on as many devices have nothing to be compared with. */
static bool differ_in_devices(struct state_run *const *alike, int count)
{
    for (int i = 1; i < count; i++)
        if (alike[i]->device_count != alike[0]->device_count)
            return true;
    return false;
}

void bases_refresh(struct ui *ui)
{
    struct state *state = &ui->state;
    struct state_run **runs = NULL;
    int count = 0, alike;
    /* Short of memory there are none. */
    if (ui->bases_version == state->runs_version ||
        !(runs = calloc((size_t)state->run_count + 1, sizeof(*runs))))
        return;
    ui->bases_version = state->runs_version;
    for (int i = 0; i < state->run_count; i++) {
        struct state_run *run = &state->runs[i];
        run->base = 0;
        run->speed_up = NAN;
        if (run->setting.digest != 0)
            runs[count++] = run;
    }
    qsort(runs, (size_t)count, sizeof(*runs), compare_settings);
    for (int i = 0; i < count; i += alike) {
        for (alike = 1;
             i + alike < count && runs[i + alike]->setting.digest == runs[i]->setting.digest;)
            alike++;
        if (differ_in_devices(&runs[i], alike))
            find_bases(ui, &runs[i], alike);
    }
    free(runs);
}

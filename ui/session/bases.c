/* SPDX-License-Identifier: MIT */
#include "ui/session/bases.h"

#include <math.h>
#include <stdlib.h>

#include "ui/session/ui.h"

/* A run whose settings are known. */
struct settled {
    unsigned long digest;
    struct state_run *run;
};

static int compare_digests(const void *a, const void *b)
{
    const struct settled *first = a, *second = b;
    return (first->digest > second->digest) - (first->digest < second->digest);
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
static void find_base(const struct ui *ui, struct state_run *run, const struct settled *alike,
                      int count)
{
    const struct series_run anchor = comparison_run(ui, run, run), *base = NULL;
    static const enum scaling scalings[] = {SCALING_STRONG, SCALING_WEAK};
    for (int i = 0; i < 2 && !base; i++) {
        struct series series;
        series_begin(&series, scalings[i], series_strategy(&anchor), &anchor, &anchor, NAN, false);
        for (int j = 0; j < count; j++) {
            const struct series_run other = comparison_run(ui, alike[j].run, run);
            series_add(&series, &other);
        }
        base = first_with_speed(&series);
        run->base = base ? base->run : 0;
    }
    const struct state_run *known = state_run(&ui->state, run->base);
    run->speed_up = known ? run->samples_per_s / known->samples_per_s : NAN;
}

/* Runs on as many devices have nothing to be compared with. */
static bool differ_in_devices(const struct settled *alike, int count)
{
    for (int i = 1; i < count; i++)
        if (alike[i].run->device_count != alike[0].run->device_count)
            return true;
    return false;
}

void bases_refresh(struct ui *ui)
{
    struct state *state = &ui->state;
    struct settled *settled = NULL;
    int count = 0, alike;
    /* Short of memory there are none. */
    if (ui->bases_version == state->runs_version ||
        !(settled = calloc((size_t)state->run_count + 1, sizeof *settled)))
        return;
    ui->bases_version = state->runs_version;
    for (int i = 0; i < state->run_count; i++) {
        struct state_run *run = &state->runs[i];
        run->base = 0;
        run->speed_up = NAN;
        if (run->setting.digest != 0)
            settled[count++] = (struct settled){run->setting.digest, run};
    }
    qsort(settled, (size_t)count, sizeof *settled, compare_digests);
    for (int i = 0; i < count; i += alike) {
        for (alike = 1; i + alike < count && settled[i + alike].digest == settled[i].digest;)
            alike++;
        for (int j = 0; differ_in_devices(&settled[i], alike) && j < alike; j++)
            find_base(ui, settled[i + j].run, &settled[i], alike);
    }
    free(settled);
}

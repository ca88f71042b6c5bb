/* SPDX-License-Identifier: MIT */
#include "ui/panels/outlook.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "experiment/forecast.h"
#include "ui/form/devices.h"
#include "ui/form/suggestion.h"
#include "ui/session/comparison.h"

/* Are all devices of the form of the kind that the base's are of? */
static bool same_kind(const struct ui *ui, const struct series_run *base)
{
    struct form_device devices[FORM_MAX_DEVICES];
    const int count = form_devices(&ui->form, &ui->state, devices);
    for (int i = 0; i < count; i++)
        if (devices[i].chosen &&
            strcmp(devices[i].id.kind == DEVICE_CPU ? "cpu" : "cuda", base->device_kind) != 0)
            return false;
    return true;
}

/* A run like the base whose epochs, or at least whose speed, are known? */
static bool counts(const struct ui *ui, const struct series_run *base, int index, bool speed_alone,
                   struct series_run *run)
{
    const struct state_run *known = &ui->state.runs[index];
    *run = comparison_run(ui, known, known);
    return known->status == RUN_DONE && series_alike(base, run, false) &&
           series_strategy(run) == STRATEGY_DATA && run->threads == base->threads &&
           (speed_alone ? known->samples_per_s > 0 : known->measure.count > 0);
}

/* Times as fast as the base; NAN: no run tells it. */
static double measured(const struct ui *ui, const struct outlook *outlook,
                       const struct series_run *base)
{
    struct series_run run;
    for (int i = ui->state.run_count - 1; i >= 0; i--)
        if (counts(ui, base, i, true, &run) && run.devices == outlook->devices &&
            run.batch == (double)outlook->batch)
            return ui->state.runs[i].samples_per_s / outlook->base->samples_per_s;
    return NAN;
}

static bool has_point(const struct forecast_basis *basis, const struct series_run *run)
{
    for (int i = 0; i < basis->count; i++)
        if (basis->points[i].outcome->devices == run->devices &&
            basis->points[i].batch == run->batch)
            return true;
    return false;
}

/* From the base and the newest runs that are like it. */
static bool predict(const struct ui *ui, const struct outlook *outlook,
                    const struct series_run *base, double noise, struct noise_reach *reach)
{
    struct outcome outcomes[FORECAST_POINTS];
    struct error ignored = ERROR_INIT; /* what is missing is for those who asked */
    struct forecast forecast;
    struct forecast_basis basis = {.base = &outcomes[0],
                                   .scaling = SCALING_STRONG,
                                   .batch = (double)outlook->batch,
                                   .cores = comparison_cores(ui),
                                   .bandwidth = NAN,
                                   .noise = noise,
                                   .target_acc = NAN};
    struct series_run run = *base;
    /* The base first, of which there is one in any case. */
    for (int i = ui->state.run_count; i >= 0 && basis.count < FORECAST_POINTS; i--) {
        if (i < ui->state.run_count &&
            (!counts(ui, base, i, false, &run) || has_point(&basis, &run)))
            continue;
        if (!series_outcome(&run, &run.measure, 1, NAN, &outcomes[basis.count], &ignored))
            return false;
        basis.points[basis.count] =
            (struct forecast_point){.outcome = &outcomes[basis.count], .batch = run.batch};
        basis.count++;
    }
    if (!forecast_make(&basis, outlook->devices, &forecast, &ignored))
        return false;
    *reach = forecast_reach(&basis, &forecast);
    return true;
}

/* As many epochs at an unknown speed are no news. */
static bool says_something(const struct outlook *outlook)
{
    return isfinite(outlook->reach.sooner) || (double)outlook->batch != outlook->base->batch;
}

bool outlook_of_form(const struct ui *ui, struct outlook *outlook)
{
    const struct form *form = &ui->form;
    const struct state_run *base = form_run_with_noise(form, &ui->state, &ui->check);
    const int devices = form_device_count(form, &ui->state);
    if (!base || devices <= 0 || form->spec.strategy != STRATEGY_DATA || !(base->batch > 0) ||
        (devices == base->device_count && (double)form->spec.batch == base->batch))
        return false;
    const struct series_run run = comparison_run(ui, base, base);
    const double noise = points_newest(base->points, base->point_count, METRIC_NOISE);
    *outlook = (struct outlook){.base = base, .devices = devices, .batch = form->spec.batch};
    outlook->reach =
        (struct noise_reach){.faster = NAN,
                             .epochs = noise_epochs(noise, base->batch, (double)form->spec.batch),
                             .sooner = NAN,
                             .low = NAN,
                             .high = NAN};
    if (!same_kind(ui, &run) || series_strategy(&run) != STRATEGY_DATA)
        return says_something(outlook);
    const double faster = measured(ui, outlook, &run);
    if (isfinite(faster)) {
        outlook->reach.faster = faster;
        outlook->reach.sooner = faster / outlook->reach.epochs;
    } else {
        outlook->predicted = predict(ui, outlook, &run, noise, &outlook->reach);
    }
    return says_something(outlook);
}

const char *outlook_text(const struct outlook *outlook, char *buffer, size_t size)
{
    const struct noise_reach *reach = &outlook->reach;
    struct figure sooner, faster, epochs;
    char range[48] = "";
    figure_times(&epochs, reach->epochs);
    if (outlook->predicted && reach->high - reach->low >= 0.05)
        snprintf(range, sizeof range, " (%.1f-%.1f)", reach->low, reach->high);
    if (isfinite(reach->sooner))
        snprintf(buffer, size,
                 "%d device%s, batch %ld: %s%s as fast to the same accuracy as #%ld (%s per epoch, "
                 "%s the epochs%s)",
                 outlook->devices, plural(outlook->devices), outlook->batch,
                 figure_times(&sooner, reach->sooner), range, outlook->base->run,
                 figure_times(&faster, reach->faster), epochs.text,
                 outlook->predicted ? "; predicted" : "");
    else
        snprintf(buffer, size, "batch %ld: %s the epochs of #%ld to the same accuracy",
                 outlook->batch, epochs.text, outlook->base->run);
    return buffer;
}

/* SPDX-License-Identifier: MIT */
#include "ui/form/suggestion.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "experiment/noise.h"
#include "ui/form/devices.h"

static double noise_of(const struct state_run *run)
{
    return points_newest(run->points, run->point_count, METRIC_NOISE);
}

/* Unknown is not equal. */
static bool is_named(const char *name, const char *given, const char *left_open)
{
    const char *wanted = given ? given : left_open;
    return wanted && wanted[0] != '\0' && strcmp(name, wanted) == 0;
}

const struct state_run *form_run_with_noise(const struct form *form, const struct state *state,
                                            const struct form_check *check)
{
    const struct spec *spec = &form->spec;
    const struct state_run *newest = NULL;
    for (int i = 0; i < state->run_count; i++) {
        const struct state_run *run = &state->runs[i];
        if (is_named(run->model, spec->model, check ? check->model : NULL) &&
            is_named(run->data, spec->data, check ? check->data : NULL) &&
            run->status == RUN_DONE && isfinite(noise_of(run)) &&
            (!newest || run->run > newest->run))
            newest = run;
    }
    return newest;
}

/* The law is that of plain descent; of a rate per parameter it takes the root (noise.h). */
static double by_noise(enum optimizer_kind optimizer, double noise, double lr, double batch,
                       double other)
{
    const double factor = noise_lr(noise, 1, batch, other);
    const bool plain = optimizer == OPTIMIZER_SGD || optimizer == OPTIMIZER_NESTEROV;
    return lr * (plain ? factor : sqrt(factor));
}

static void fill(struct form_suggestion *suggestion, enum optimizer_kind optimizer, double lr,
                 double batch, double noise)
{
    const double ratio = (double)suggestion->batch / batch;
    suggestion->noise = noise;
    suggestion->linear = lr * ratio;
    suggestion->root = lr * sqrt(ratio);
    suggestion->lr = isfinite(noise)
                         ? by_noise(optimizer, noise, lr, batch, (double)suggestion->batch)
                         : suggestion->linear;
}

/* Is it another rate, beyond the three digits that are suggested? */
static bool differs(double lr, double other)
{
    return fabs(lr - other) > 6e-3 * fabs(other);
}

bool form_suggest(const struct form *form, const struct state *state,
                  const struct form_check *check, struct form_suggestion *suggestion)
{
    const struct spec *spec = &form->spec;
    const int devices = form_device_count(form, state);
    const struct state_run *run = form_run_with_noise(form, state, check);
    const double noise = run ? noise_of(run) : NAN;
    /* Stages and parts of layers do not divide the rows of a mini-batch. */
    if (devices <= 0 || !strategy_divides_rows(spec->strategy))
        return false;
    *suggestion = (struct form_suggestion){.devices = devices, .batch = spec->batch};
    if (form->base_devices > 0) {
        const double ratio = (double)devices / form->base_devices;
        suggestion->batch = lround(fmax(1, (double)form->base_batch * ratio));
        fill(suggestion, spec->optimizer, form->base_lr, (double)form->base_batch, noise);
        return suggestion->batch != spec->batch || differs(spec->lr, suggestion->lr);
    }
    /* Only the batch is another one, and the rate still that run's. */
    if (!run || !(run->batch > 0) || run->batch == (double)spec->batch ||
        differs(spec->lr, run->lr))
        return false;
    fill(suggestion, spec->optimizer, run->lr, run->batch, noise);
    return differs(spec->lr, suggestion->lr);
}

void form_suggestion_text(const struct form_suggestion *suggestion, char *buffer, size_t size)
{
    struct figure lr, linear, root, noise;
    if (!isfinite(suggestion->noise)) {
        snprintf(buffer, size, "%d device%s: batch %ld, lr %s", suggestion->devices,
                 plural(suggestion->devices), suggestion->batch,
                 figure_digits(&lr, suggestion->lr, 4));
        return;
    }
    snprintf(buffer, size, "%d device%s: batch %ld, lr %s (by noise %s; linear %s, root %s)",
             suggestion->devices, plural(suggestion->devices), suggestion->batch,
             figure_digits(&lr, suggestion->lr, 3), figure_count(&noise, suggestion->noise),
             figure_digits(&linear, suggestion->linear, 3),
             figure_digits(&root, suggestion->root, 3));
}

/* SPDX-License-Identifier: MIT */
#include "experiment/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* A mean of what is known. */
struct mean {
    double sum;
    int count;
};

static void add(struct mean *mean, double value)
{
    if (!isfinite(value))
        return;
    mean->sum += value;
    mean->count++;
}

static double mean_of(const struct mean *mean)
{
    return ratio(mean->sum, mean->count);
}

struct means {
    struct mean epochs, sync_share, wait_share, device_rate, rows, noise, network_share,
        network_speed;
};

/* Where the devices' time went in the epochs that count. */
static void add_run(struct means *means, const struct measure *run)
{
    struct measured_time time = measure_time(run);
    struct mean rate = {.count = 0}, rows = {.count = 0};
    for (int i = 0; i < run->count; i++) {
        const struct measured_epoch *epoch = &run->epochs[i];
        if (!measure_counts(run, i))
            continue;
        add(&rate, epoch->device_rate);
        add(&rows, epoch->rows);
    }
    add(&means->sync_share, ratio(time.sync_s, time.seconds));
    add(&means->wait_share, ratio(time.wait_s, time.seconds));
    if (time.network_bytes > 0) {
        add(&means->network_share, ratio(time.network_s, time.seconds));
        add(&means->network_speed, ratio(time.network_bytes, time.network_s));
    }
    add(&means->noise, 1 / measure_noise(run)); /* what is wasted adds up */
    add(&means->device_rate, mean_of(&rate));
    add(&means->rows, mean_of(&rows));
    add(&means->epochs, run->count > 0 ? run->epochs[run->count - 1].epoch : NAN);
}

static void take_devices(struct outcome *outcome, const struct measure *run)
{
    if (run->gradient_bytes > 0)
        outcome->gradient_bytes = run->gradient_bytes;
    snprintf(outcome->type, sizeof outcome->type, "%s", run->type);
    if (!(run->memory > 0))
        return;
    outcome->memory = fmax(outcome->memory, run->memory); /* of which one may be NAN */
    outcome->step_bytes = fmax(outcome->step_bytes, run->step_bytes);
}

enum epoch_figure { EPOCH_SECONDS, EPOCH_SAMPLES_PER_S, EPOCH_ENERGY, EPOCH_SAMPLES_PER_J };

static double figure_of(const struct measured_epoch *epoch, enum epoch_figure figure)
{
    const double values[] = {[EPOCH_SECONDS] = epoch->seconds,
                             [EPOCH_SAMPLES_PER_S] = epoch->samples_per_s,
                             [EPOCH_ENERGY] = epoch->energy_j,
                             [EPOCH_SAMPLES_PER_J] = epoch->samples_per_j};
    return values[figure];
}

/* Of the epochs that count; `scratch` has room for them. */
static struct spread spread_epochs(const struct measure *const *runs, int count,
                                   enum epoch_figure figure, double *scratch)
{
    size_t samples = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < runs[i]->count; j++) {
            const struct measured_epoch *epoch = &runs[i]->epochs[j];
            const double value = figure_of(epoch, figure);
            if (measure_counts(runs[i], j) && epoch->seconds > 0 && epoch->samples_per_s > 0 &&
                value > 0)
                scratch[samples++] = value;
        }
    return spread_of(scratch, samples);
}

bool outcome_make(struct outcome *outcome, const struct measure *const *runs, int count,
                  double target_acc, struct error *err)
{
    struct means means = {.epochs = {.count = 0}};
    size_t room = (size_t)count + 1;
    *outcome = (struct outcome){
        .s_per_epoch = spread_of(NULL, 0), .memory = NAN, .step_bytes = NAN, .gradient_bytes = NAN};
    for (int i = 0; i < count; i++) {
        room += (size_t)runs[i]->count;
        outcome->warm_up |= measure_is_warm_up(runs[i]);
        add_run(&means, runs[i]);
        take_devices(outcome, runs[i]);
    }
    outcome->epochs = mean_of(&means.epochs);
    outcome->sync_share = mean_of(&means.sync_share);
    outcome->wait_share = mean_of(&means.wait_share);
    outcome->device_rate = mean_of(&means.device_rate);
    outcome->rows = mean_of(&means.rows);
    outcome->noise = 1 / mean_of(&means.noise);
    outcome->network_share = mean_of(&means.network_share);
    outcome->network_speed = mean_of(&means.network_speed);
    outcome->samples_per_s = outcome->test_acc = outcome->target_s = outcome->s_per_epoch;
    outcome->energy_j = outcome->samples_per_j = outcome->target_j = outcome->s_per_epoch;
    outcome->speed_up = outcome->efficiency = outcome->accuracy_change = NAN;
    outcome->input_share = NAN;
    double *scratch = calloc(room, sizeof *scratch);
    if (!scratch)
        return error_memory(err, "epochs");
    outcome->s_per_epoch = spread_epochs(runs, count, EPOCH_SECONDS, scratch);
    outcome->samples_per_s = spread_epochs(runs, count, EPOCH_SAMPLES_PER_S, scratch);
    outcome->energy_j = spread_epochs(runs, count, EPOCH_ENERGY, scratch);
    outcome->samples_per_j = spread_epochs(runs, count, EPOCH_SAMPLES_PER_J, scratch);
    for (int i = 0; i < count; i++) {
        outcome->validated |= runs[i]->validated;
        outcome->target_runs += runs[i]->count > 0 && !(runs[i]->measured_from > 0);
        scratch[i] = measure_test_acc(runs[i]);
    }
    outcome->test_acc = spread_of(scratch, (size_t)count);
    for (int i = 0; i < count; i++)
        scratch[i] = measure_seconds_to(runs[i], target_acc);
    outcome->target_s = spread_of(scratch, (size_t)count);
    for (int i = 0; i < count; i++)
        scratch[i] = measure_energy_to(runs[i], target_acc);
    outcome->target_j = spread_of(scratch, (size_t)count);
    free(scratch);
    return true;
}

void outcome_compare(struct outcome *outcome, const struct outcome *base)
{
    outcome->speed_up = outcome->samples_per_s.median / base->samples_per_s.median;
    outcome->efficiency = outcome->devices > 0 && base->devices > 0
                              ? outcome->speed_up * base->devices / outcome->devices
                              : NAN;
    /* After another number of epochs the difference would be that of the epochs. */
    outcome->accuracy_change =
        outcome->epochs == base->epochs ? outcome->test_acc.mean - base->test_acc.mean : NAN;
    /* What a single device waits for can only be input. Where that takes as long on more devices
     * it is the serial part of Amdahl's law: its share grows with the speed-up. */
    outcome->input_share =
        base->devices == 1 && isfinite(base->wait_share * outcome->speed_up)
            ? fmax(0, fmin(base->wait_share * fmax(outcome->speed_up, 1), outcome->wait_share))
            : NAN;
}

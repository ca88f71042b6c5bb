/* SPDX-License-Identifier: MIT */
#include "experiment/forecast.h"

#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "experiment/predict.h"

static int count_hosts(const char *devices)
{
    struct device_list list;
    struct error ignored = ERROR_INIT;
    return device_list_parse(devices, &list, &ignored) ? sweep_hosts(&list) : 0;
}

static void add_point(struct forecast_basis *basis, const struct outcome *outcome, double batch,
                      const char *devices)
{
    if (basis->count < FORECAST_POINTS && outcome->devices > 0)
        basis->points[basis->count++] =
            (struct forecast_point){outcome, batch, count_hosts(devices)};
}

static bool has_speed(const struct outcome *outcome)
{
    return outcome->samples_per_s.median > 0;
}

/* Of the largest batch on the fewest devices. */
static void choose_batch(struct forecast_basis *basis)
{
    basis->batch = 0;
    for (int i = 0; i < basis->count; i++) {
        const struct forecast_point *point = &basis->points[i];
        if (!(point->batch > basis->batch))
            continue;
        basis->batch = point->batch;
        basis->base = has_speed(point->outcome) ? point->outcome : NULL;
    }
}

static bool check_study(const struct study *study, struct error *err)
{
    const bool batches = study_varies_batch(study);
    if (study->kind == STUDY_SETTINGS && !batches)
        return error_set(err, ERROR_USAGE,
                         "--predict is for comparisons of devices, or of --batch on one number of "
                         "devices: let nothing else vary");
    for (int i = 0; i < study->variant_count; i++)
        if (study->strategies || study->variants[i].strategy != STRATEGY_DATA)
            return error_set(err, ERROR_USAGE,
                             "--predict is for strategy data: compare with --devices-counts alone");
    if (member_number(study->variants[0].spec, "epochs") < 2)
        return error_set(err, ERROR_USAGE,
                         "--predict: a single epoch is warm-up: train --epochs 2 or more");
    if (batches && study->variants[0].devices == 0)
        return error_set(err, ERROR_USAGE,
                         "--predict needs to know the devices: name them, such as --devices cpu:0");
    return true;
}

bool forecast_of_study(struct forecast_basis *basis, const struct study_table *table,
                       double bandwidth, bool planned, struct error *err)
{
    const struct study *study = table->study;
    *basis = (struct forecast_basis){.scaling = study->scaling,
                                     .cores = study->cores,
                                     .bandwidth = bandwidth,
                                     .noise = noise_of_study(table),
                                     .target_acc = study->target_acc,
                                     .planned = planned};
    if (!check_study(study, err))
        return false;
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        if (planned || has_speed(&row->outcome))
            add_point(basis, &row->outcome, (double)row->variant->batch,
                      member_text(row->variant->spec, "devices"));
    }
    if (study->kind == STUDY_SETTINGS) {
        choose_batch(basis);
        return true;
    }
    const struct study_variant *first = &study->variants[0];
    basis->base = table->base < 0 ? NULL : &table->rows[table->base].outcome;
    basis->batch = (double)first->batch /
                   (study->scaling == SCALING_WEAK && first->devices > 0 ? first->devices : 1);
    return true;
}

void forecast_of_series(struct forecast_basis *basis, const struct series *series, int cores)
{
    *basis = (struct forecast_basis){.scaling = series->scaling,
                                     .batch = series->batch,
                                     .cores = cores,
                                     .bandwidth = NAN,
                                     .noise = NAN,
                                     .target_acc = NAN};
    if (series->base < 0 || series->strategy != STRATEGY_DATA)
        return;
    basis->base = &series->rows[series->base].outcome;
    basis->noise = noise_of_series(series);
    for (int i = 0; i < series->count; i++) {
        const struct series_row *row = &series->rows[i];
        if (has_speed(&row->outcome) && !row->outcome.warm_up &&
            row->run.threads == series->rows[series->base].run.threads)
            add_point(basis, &row->outcome, row->run.batch, row->run.device_list);
    }
}

bool forecast_counts_hosts(const struct forecast_basis *basis)
{
    bool hosts = false;
    for (int i = 0; i < basis->count; i++)
        hosts |= basis->points[i].hosts > 0;
    return hosts;
}

/* What is counted in a point: hosts or devices. */
static int count_of(const struct forecast_point *point, bool hosts)
{
    return hosts ? point->hosts : point->outcome->devices;
}

int forecast_most(const struct forecast_basis *basis)
{
    int most = 0;
    for (int i = 0; i < basis->count; i++) {
        const int count = count_of(&basis->points[i], forecast_counts_hosts(basis));
        most = count > most ? count : most;
    }
    return most;
}

/* How many devices each of what is counted has. */
static int devices_of_one(const struct forecast_basis *basis)
{
    const struct forecast_point *first = &basis->points[0];
    return forecast_counts_hosts(basis) && first->hosts > 0 ? first->outcome->devices / first->hosts
                                                            : 1;
}

static double batch_on(const struct forecast_basis *basis, int devices)
{
    return basis->batch * (basis->scaling == SCALING_WEAK ? devices : 1);
}

/* Of the device that has most. */
static double rows_on(double batch, int devices)
{
    return ceil(batch / devices);
}

/* By how much steps took more or less than their median. */
static double variation_of(const struct spread *rate)
{
    return rate->count < 2 ? 0 : fmax(rate->median / rate->low - 1, 1 - rate->median / rate->high);
}

static struct predict_point as_point(const struct forecast_point *from, bool hosts)
{
    const struct outcome *outcome = from->outcome;
    const double step_s = from->batch / outcome->samples_per_s.median;
    return (struct predict_point){.devices = count_of(from, hosts),
                                  .rows = rows_on(from->batch, outcome->devices),
                                  .step_s = step_s,
                                  .sync_s = step_s * outcome->sync_share,
                                  .wait_s = step_s * outcome->wait_share,
                                  .network_s = step_s * outcome->network_share,
                                  .variation = variation_of(&outcome->samples_per_s)};
}

/* Of all points but those of as many devices with that batch. */
static void make_model(const struct forecast_basis *basis, int count, double batch,
                       struct predict_model *model)
{
    const bool hosts = forecast_counts_hosts(basis);
    *model = (struct predict_model){.bytes = NAN, .bandwidth = basis->bandwidth, .overlaps = hosts};
    for (int i = 0; i < basis->count; i++) {
        const struct forecast_point *point = &basis->points[i];
        model->bytes = basis->planned ? 1 : fmax(model->bytes, point->outcome->gradient_bytes);
        model->overlaps |= point->outcome->cpus == 0;
        if (count_of(point, hosts) != count || point->batch != batch)
            model->points[model->count++] = as_point(point, hosts);
    }
}

static bool refuse(const struct forecast_basis *basis, enum predict_lack lack, int count,
                   struct error *err)
{
    const bool cpus = basis->count > 0 && basis->points[0].outcome->cpus > 0;
    return predict_refuse(lack, count,
                          forecast_counts_hosts(basis) ? PREDICT_ON_HOSTS
                          : cpus                       ? PREDICT_ON_CPUS
                                                       : PREDICT_ON_GPUS,
                          err);
}

/* CPU devices that share cores are slower than any that have their own. */
static bool check_cores(const struct forecast_basis *basis, int devices, struct error *err)
{
    const struct outcome *first = basis->points[0].outcome;
    if (first->cpus == 0 || basis->cores == 0 || forecast_counts_hosts(basis))
        return true;
    const int whole = basis->cores / first->cpus > 1 ? basis->cores / first->cpus : 1;
    const int threads = first->threads > 0 ? first->threads / first->cpus : whole;
    if (devices * threads <= basis->cores)
        return true;
    if (devices <= basis->cores)
        return error_set(err, ERROR_USAGE,
                         "--predict %d: as many CPU devices with %d threads each would share %d "
                         "cores: train with --cpu-threads %d",
                         devices, threads, basis->cores, basis->cores / devices);
    return error_set(err, ERROR_USAGE,
                     "--predict %d: as many CPU devices would share %d core%s: predict %d at most",
                     devices, basis->cores, plural(basis->cores), basis->cores / threads);
}

static bool check_points(const struct forecast_basis *basis, int count, struct error *err)
{
    const bool hosts = forecast_counts_hosts(basis);
    const int each = devices_of_one(basis);
    for (int i = 0; i < basis->count; i++) {
        const struct forecast_point *point = &basis->points[i];
        const struct outcome *outcome = point->outcome;
        if ((outcome->cpus != 0 && outcome->cpus != outcome->devices) ||
            (outcome->cpus == 0) != (basis->points[0].outcome->cpus == 0) ||
            (hosts && point->hosts * each != outcome->devices))
            return error_set(err, ERROR_USAGE,
                             "--predict %d: the devices of the runs differ: compare equal ones",
                             count);
        if (outcome->warm_up)
            return error_set(err, ERROR_USAGE, "--predict %d: a single epoch is warm-up: %s", count,
                             "train --epochs 2 or more");
        if (!basis->planned && !isfinite(outcome->sync_share + outcome->wait_share))
            return error_set(err, ERROR_USAGE,
                             "--predict %d: the runs do not say where their time went: train the "
                             "comparison again",
                             count);
    }
    return true;
}

bool forecast_check(const struct forecast_basis *basis, int count, struct error *err)
{
    struct predict_model model;
    const int devices = count * devices_of_one(basis);
    const double batch = batch_on(basis, devices);
    if (basis->count == 0)
        return refuse(basis, PREDICT_LACKS_ROWS, count, err);
    if (!check_points(basis, count, err))
        return false;
    if (devices > SPEC_MAX_DEVICES || batch < devices)
        return error_set(err, ERROR_USAGE,
                         "--predict %d: a run has %d devices at most, and a row of the batch for "
                         "each",
                         count, SPEC_MAX_DEVICES);
    make_model(basis, count, batch, &model);
    const enum predict_lack lack = predict_lacks(&model, count, rows_on(batch, devices));
    return lack == PREDICT_LACKS_NOTHING ? check_cores(basis, devices, err)
                                         : refuse(basis, lack, count, err);
}

static struct spread spread_from(double middle, double low, double high)
{
    return (struct spread){.count = 2, .mean = middle, .median = middle, .low = low, .high = high};
}

/*
 * The rate of a device as runs tell it, which is a mean over windows, by that of the base: steps
 * are as long as the median epoch says.
 */
static double device_rate(const struct outcome *base, double rows, double compute_s)
{
    const double step_s = base->rows * base->devices / base->samples_per_s.median;
    const double base_s = step_s * (1 - base->sync_share - base->wait_share);
    return base->device_rate * (rows / compute_s) / (base->rows / base_s);
}

/* As if it had been measured. */
static void fill_outcome(const struct forecast_basis *basis, const struct predicted_step *step,
                         struct forecast *forecast)
{
    const struct outcome *first = basis->points[0].outcome;
    const int devices = forecast->count * devices_of_one(basis);
    /* An epoch has as many rows on any number of devices. */
    const double steps =
        basis->base->s_per_epoch.median * basis->base->samples_per_s.median / forecast->batch;
    const double rows = rows_on(forecast->batch, devices);
    const struct spread none = spread_of(NULL, 0);
    forecast->outcome = (struct outcome){
        .devices = devices,
        .cpus = first->cpus > 0 ? devices : 0,
        .threads = first->cpus > 0 ? first->threads / first->cpus * devices : 0,
        .strategy = STRATEGY_DATA,
        .s_per_epoch = spread_from(steps * step->step_s, steps * step->low_s, steps * step->high_s),
        .samples_per_s = spread_from(forecast->batch / step->step_s, forecast->batch / step->high_s,
                                     forecast->batch / step->low_s),
        .test_acc = none,
        .target_s = none,
        .epochs = NAN,
        .sync_share = step->sync_s / step->step_s,
        .wait_share = step->wait_s / step->step_s,
        .device_rate = device_rate(basis->base, rows, step->compute_s),
        .rows = rows,
        .noise = NAN,
        .memory = NAN,
        .step_bytes = NAN,
        .gradient_bytes = NAN,
        .network_share = NAN,
        .network_speed = NAN};
    outcome_compare(&forecast->outcome, basis->base);
}

bool forecast_make(const struct forecast_basis *basis, int count, struct forecast *forecast,
                   struct error *err)
{
    struct predict_model model;
    struct loss losses[CAUSES];
    const int devices = count * devices_of_one(basis);
    int first, second;
    if (!forecast_check(basis, count, err))
        return false;
    if (!basis->base)
        return refuse(basis, PREDICT_LACKS_ROWS, count, err);
    *forecast = (struct forecast){.count = count, .batch = batch_on(basis, devices)};
    make_model(basis, count, forecast->batch, &model);
    const struct predicted_step step =
        predict_step(&model, count, rows_on(forecast->batch, devices));
    fill_outcome(basis, &step, forecast);
    losses_of_devices(&forecast->outcome, basis->base, basis->cores, losses);
    losses_largest(losses, &first, &second);
    forecast->limit =
        first < 0 || forecast->outcome.efficiency >= WELL_SCALED ? CAUSES : (enum cause)first;
    return true;
}

const char *forecast_sentence(const struct forecast_basis *basis, const struct forecast *forecast,
                              char *buffer, size_t size)
{
    const struct outcome *outcome = &forecast->outcome;
    struct figure seconds, times, efficiency;
    char range[2 * sizeof seconds];
    const char *limit = forecast->limit == CAUSES ? "nothing" : loss_name(forecast->limit);
    snprintf(buffer, size, "Predicted for %d %s%s: %s s/epoch (%s), %s, efficiency %s; %s limits",
             forecast->count, forecast_counts_hosts(basis) ? "host" : "device",
             plural(forecast->count), figure_seconds(&seconds, outcome->s_per_epoch.median),
             spread_range(&outcome->s_per_epoch, figure_seconds, range, sizeof range),
             figure_times(&times, outcome->speed_up),
             figure_efficiency(&efficiency, outcome->efficiency), limit);
    return buffer;
}

struct noise_reach forecast_reach(const struct forecast_basis *basis,
                                  const struct forecast *forecast)
{
    for (int i = 0; i < basis->count; i++)
        if (basis->points[i].outcome == basis->base)
            return noise_reach(basis->noise,
                               &(struct noise_choice){&forecast->outcome, forecast->batch},
                               &(struct noise_choice){basis->base, basis->points[i].batch});
    return (struct noise_reach){NAN, NAN, NAN, NAN, NAN};
}

const char *forecast_reach_sentence(const struct forecast_basis *basis,
                                    const struct forecast *forecast, char *buffer, size_t size)
{
    const struct noise_reach reach = forecast_reach(basis, forecast);
    return noise_reach_sentence(&reach, &(struct noise_choice){&forecast->outcome, forecast->batch},
                                basis->target_acc, buffer, size);
}

const char *forecast_assumptions(const struct forecast_basis *basis, char *buffer, size_t size)
{
    struct predict_model model;
    struct figure bytes, bandwidth;
    make_model(basis, 0, 0, &model);
    const bool given = basis->bandwidth > 0;
    size_t used = (size_t)snprintf(
        buffer, size,
        "Assumes that all devices are alike and compute as fast as in the measured runs, however "
        "many there are, and that all-reduce is a ring");
    if (used < size)
        used += (size_t)snprintf(
            buffer + used, size - used, "%s%s%s%s",
            given ? " that sums " : " with the latency and bandwidth that these runs had",
            given ? figure_count(&bytes, model.bytes) : "", given ? "B at " : "",
            given ? figure_count(&bandwidth, basis->bandwidth) : "");
    if (used < size)
        snprintf(buffer + used, size - used, "%s%s", given ? "B/s" : "",
                 model.overlaps ? ", beside the backward pass" : ", after the backward pass");
    return buffer;
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"

void metrics_begin(struct metrics *metrics)
{
    *metrics = (struct metrics){
        .begin = clock_seconds(),
        .val_loss = NAN,
        .val_acc = NAN,
        .test_loss = NAN,
        .test_acc = NAN,
    };
}

void metrics_free(struct metrics *metrics)
{
    free(metrics->seconds);
    metrics->seconds = NULL;
}

void metrics_begin_epoch(struct metrics *metrics, long epoch)
{
    struct epoch_metrics *now = &metrics->epoch;
    struct rate rates[SPEC_MAX_DEVICES];
    for (int i = 0; i < SPEC_MAX_DEVICES; i++)
        rates[i] = now->devices[i].rate;
    *now = (struct epoch_metrics){.epoch = epoch,
                                  .energy_j = NAN,
                                  .val_loss = NAN,
                                  .val_acc = NAN,
                                  .test_loss = NAN,
                                  .test_acc = NAN};
    for (int i = 0; i < SPEC_MAX_DEVICES; i++)
        now->devices[i].rate = rates[i];
}

static void rate_add(struct rate *rate, double rows, double seconds, double now)
{
    if (rate->seconds == 0 && rate->rows == 0)
        rate->begin = now - seconds;
    rate->rows += rows;
    rate->seconds += seconds;
    bool full = now - rate->begin >= 1;
    /* The very first window shows what it has so far. */
    if ((full || rate->value == 0) && rate->seconds > 0)
        rate->value = rate->rows / rate->seconds;
    if (full)
        rate->rows = rate->seconds = 0;
}

void metrics_step(struct metrics *metrics, const struct step_part *parts, int devices, long rows,
                  double seconds)
{
    struct epoch_metrics *epoch = &metrics->epoch;
    double now = clock_seconds(), compute_s = 0, sync_s = 0, reduce_s = 0;
    double summed_s = parts[0].times.summed_s;
    for (int i = 0; i < devices; i++) {
        const struct step_part *part = &parts[i];
        struct device_metrics *device = &epoch->devices[i];
        double part_sync_s = part->times.reduce_s + part->times.sync_bn_s;
        compute_s = fmax(compute_s, part->times.compute_s);
        sync_s = fmax(sync_s, part_sync_s);
        reduce_s = fmax(reduce_s, part->times.reduce_s);
        summed_s = fmin(summed_s, part->times.summed_s);
        device->rows += part->rows;
        device->compute_s += part->times.compute_s;
        device->sync_s += part_sync_s;
        rate_add(&device->rate, (double)part->rows, part->times.compute_s, now);
        epoch->loss_sum += part->result.loss_sum;
        epoch->correct += part->result.correct;
    }
    epoch->compute_s += compute_s;
    epoch->sync_s += sync_s;
    epoch->reduce_s += reduce_s;
    epoch->summed_s += summed_s;
    epoch->rows += rows;
    epoch->steps++;
    metrics->rows += rows;
    metrics->steps++;
    rate_add(&metrics->rate, (double)rows, seconds, now);
}

void metrics_noise(struct metrics *metrics, const struct step_part *parts, int devices,
                   double weight)
{
    struct noise_shard shards[2 * SPEC_MAX_DEVICES];
    struct noise_estimate estimate;
    double all_squares = 0;
    for (int i = 0; i < devices; i++) {
        shards[2 * i] = parts[i].noise.shards[0];
        shards[2 * i + 1] = parts[i].noise.shards[1];
        all_squares += parts[i].noise.sum_squares;
    }
    if (!noise_estimate(shards, 2 * devices, all_squares, &estimate))
        return;
    noise_add(&metrics->noise, &estimate, weight);
    metrics->epoch.noises++;
}

void metrics_end_epoch(struct metrics *metrics, double seconds)
{
    metrics->epoch.seconds = seconds;
    metrics->epoch.spent_s = 0;
    metrics->train_s += seconds;
}

static bool add_time(struct metrics *metrics, double seconds, struct error *err)
{
    if (metrics->count == metrics->capacity) {
        int capacity = metrics->capacity ? 2 * metrics->capacity : 16;
        double *grown = realloc(metrics->seconds, (size_t)capacity * sizeof *grown);
        if (!grown)
            return error_memory(err, "times of the epochs");
        metrics->seconds = grown;
        metrics->capacity = capacity;
    }
    int at = metrics->count++;
    for (; at > 1 && metrics->seconds[at - 1] > seconds; at--)
        metrics->seconds[at] = metrics->seconds[at - 1];
    metrics->seconds[at] = seconds;
    return true;
}

bool metrics_count_epoch(struct metrics *metrics, struct error *err)
{
    return add_time(metrics, metrics->epoch.seconds, err);
}

void metrics_evaluated(struct metrics *metrics, bool validation, double loss, double accuracy,
                       double seconds)
{
    struct epoch_metrics *epoch = &metrics->epoch;
    *(validation ? &metrics->val_loss : &metrics->test_loss) = loss;
    *(validation ? &metrics->val_acc : &metrics->test_acc) = accuracy;
    *(validation ? &epoch->val_loss : &epoch->test_loss) = loss;
    *(validation ? &epoch->val_acc : &epoch->test_acc) = accuracy;
    metrics->epoch.eval_s = seconds;
    metrics->eval_s += seconds;
    metrics->evaluations++;
}

double metrics_wait(const struct epoch_metrics *epoch, int device)
{
    const struct device_metrics *m = &epoch->devices[device];
    const double all_s = epoch->seconds > 0 ? epoch->seconds : epoch->spent_s;
    return fmax(0, all_s - epoch->before_s - m->compute_s - m->sync_s);
}

double metrics_score(const struct epoch_metrics *epoch)
{
    return isfinite(epoch->val_acc) ? epoch->val_acc : epoch->test_acc;
}

void metrics_count_from_here(struct metrics *metrics)
{
    metrics->before = (struct metrics_sums){.epochs = metrics->evaluations,
                                            .steps = metrics->steps,
                                            .rows = metrics->rows,
                                            .train_s = metrics->train_s,
                                            .eval_s = metrics->eval_s};
    metrics->count = 0;
}

/* Which of `known` times is number i of `count`: the first stays the first, and the others, which
 * are in order, stand evenly for those, so that their median stays about the same. */
static long nearest_time(long i, long count, long known)
{
    if (i == 0 || known == 1)
        return 0;
    return 1 + (2 * i - 1) * (known - 1) / (2 * (count - 1));
}

int metrics_times(const struct metrics *metrics, double *times, int most)
{
    const int count = metrics->count < most ? metrics->count : most;
    for (int i = 0; i < count; i++)
        times[i] = metrics->seconds[nearest_time(i, count, metrics->count)];
    return count;
}

bool metrics_resume(struct metrics *metrics, const struct metrics_sums *all,
                    const struct metrics_sums *before, const double *times, int known,
                    struct error *err)
{
    const long epochs = all->epochs - before->epochs;
    metrics->epochs = all->epochs;
    metrics->steps = all->steps;
    metrics->rows = all->rows;
    metrics->train_s = all->train_s;
    metrics->eval_s = all->eval_s;
    metrics->evaluations = all->epochs;
    metrics->before = *before;
    const double mean = epochs > 0 ? (all->train_s - before->train_s) / (double)epochs : NAN;
    for (long i = 0; i < epochs; i++)
        if (!add_time(metrics, known > 0 ? times[nearest_time(i, epochs, known)] : mean, err))
            return false;
    return true;
}

double metrics_step_s(const struct metrics *metrics)
{
    const double all_s = metrics->train_s + metrics->epoch.spent_s;
    const long steps = metrics->steps - metrics->before.steps;
    return steps > 0 ? (all_s - metrics->before.train_s) / (double)steps
                     : metrics_ratio(all_s, (double)metrics->steps);
}

double metrics_evaluation_s(const struct metrics *metrics)
{
    const long evaluations = metrics->evaluations - metrics->before.epochs;
    return evaluations > 0 ? (metrics->eval_s - metrics->before.eval_s) / (double)evaluations
                           : metrics_ratio(metrics->eval_s, (double)metrics->evaluations);
}

double metrics_ratio(double numerator, double denominator)
{
    return denominator > 0 ? numerator / denominator : NAN;
}

struct run_speed metrics_speed(const struct metrics *metrics, double rows)
{
    const long done = metrics->rows - metrics->before.rows;
    int skip = metrics->count > 1, count = metrics->count - skip;
    if (count < 1)
        return (struct run_speed){
            NAN, done > 0 ? metrics_ratio((double)done, metrics->train_s - metrics->before.train_s)
                          : NAN};
    /* The two in the middle, which may be the same one. */
    double less = metrics->seconds[skip + (count - 1) / 2];
    double more = metrics->seconds[skip + count / 2];
    return (struct run_speed){(less + more) / 2,
                              (metrics_ratio(rows, less) + metrics_ratio(rows, more)) / 2};
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/profile/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

void figures_begin(struct figures *figures)
{
    *figures = (struct figures){
        .begin = clock_seconds(),
        .test_loss = NAN,
        .test_acc = NAN,
    };
}

void figures_free(struct figures *figures)
{
    free(figures->seconds);
    figures->seconds = NULL;
}

void figures_begin_epoch(struct figures *figures, long epoch)
{
    struct epoch_figures *now = &figures->epoch;
    struct rate rates[SPEC_MAX_DEVICES];
    for (int i = 0; i < SPEC_MAX_DEVICES; i++)
        rates[i] = now->devices[i].rate;
    *now = (struct epoch_figures){.epoch = epoch, .test_loss = NAN, .test_acc = NAN};
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

void figures_step(struct figures *figures, const struct step_part *parts, int devices,
                  double seconds)
{
    struct epoch_figures *epoch = &figures->epoch;
    double now = clock_seconds(), compute_s = 0, sync_s = 0, reduce_s = 0;
    long rows = 0;
    for (int i = 0; i < devices; i++) {
        const struct step_part *part = &parts[i];
        struct device_figures *device = &epoch->devices[i];
        double part_sync_s = part->times.reduce_s + part->times.sync_bn_s;
        compute_s = fmax(compute_s, part->times.compute_s);
        sync_s = fmax(sync_s, part_sync_s);
        reduce_s = fmax(reduce_s, part->times.reduce_s);
        device->rows += part->rows;
        device->compute_s += part->times.compute_s;
        device->sync_s += part_sync_s;
        rate_add(&device->rate, (double)part->rows, part->times.compute_s, now);
        epoch->loss_sum += part->result.loss_sum;
        epoch->correct += part->result.correct;
        rows += part->rows;
    }
    epoch->compute_s += compute_s;
    epoch->sync_s += sync_s;
    epoch->reduce_s += reduce_s;
    epoch->rows += rows;
    epoch->steps++;
    figures->rows += rows;
    figures->steps++;
    rate_add(&figures->rate, (double)rows, seconds, now);
}

void figures_end_epoch(struct figures *figures, double seconds)
{
    figures->epoch.seconds = seconds;
    figures->epoch.spent_s = 0;
    figures->train_s += seconds;
}

bool figures_count_epoch(struct figures *figures, struct error *err)
{
    if (figures->count == figures->capacity) {
        int capacity = figures->capacity ? 2 * figures->capacity : 16;
        double *grown = realloc(figures->seconds, (size_t)capacity * sizeof *grown);
        if (!grown)
            return error_memory(err, "times of the epochs");
        figures->seconds = grown;
        figures->capacity = capacity;
    }
    figures->seconds[figures->count++] = figures->epoch.seconds;
    return true;
}

void figures_evaluated(struct figures *figures, double loss, double accuracy, double seconds)
{
    figures->test_loss = figures->epoch.test_loss = loss;
    figures->test_acc = figures->epoch.test_acc = accuracy;
    figures->epoch.eval_s = seconds;
    figures->eval_s += seconds;
    figures->evaluations++;
}

bool figures_resume(struct figures *figures, long steps, long rows, long epochs, double train_s,
                    double eval_s, struct error *err)
{
    figures->steps = steps;
    figures->rows = rows;
    figures->train_s = train_s;
    figures->eval_s = eval_s;
    figures->evaluations = epochs;
    figures->epoch.seconds = epochs > 0 ? train_s / (double)epochs : 0;
    for (long i = 0; i < epochs; i++)
        if (!figures_count_epoch(figures, err))
            return false;
    return true;
}

double figures_ratio(double numerator, double denominator)
{
    return denominator > 0 ? numerator / denominator : NAN;
}

double figures_mean_seconds(const struct figures *figures)
{
    double sum = 0;
    for (int i = 0; i < figures->count; i++)
        sum += figures->seconds[i];
    return figures_ratio(sum, figures->count);
}

static int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double figures_median_seconds(const struct figures *figures)
{
    int skip = figures->count > 1, count = figures->count - skip;
    double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted)
        return NAN;
    memcpy(sorted, figures->seconds + skip, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_seconds);
    double median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    free(sorted);
    return median;
}

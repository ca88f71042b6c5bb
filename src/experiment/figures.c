/* SPDX-License-Identifier: MIT */
#include "experiment/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/sweep.h"

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

struct study_spread study_spread(double *values, size_t count)
{
    size_t kept = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            sum += values[i];
            values[kept++] = values[i];
        }
    if (kept == 0)
        return (struct study_spread){.mean = NAN, .median = NAN, .low = NAN, .high = NAN};
    qsort(values, kept, sizeof *values, by_value);
    return (struct study_spread){.count = (int)kept,
                                 .mean = sum / (double)kept,
                                 .median = (values[(kept - 1) / 2] + values[kept / 2]) / 2,
                                 .low = values[0],
                                 .high = values[kept - 1]};
}

/* Of one figure of the done runs of a variant. */
static double mean_of(const struct study *study, const struct study_measure *measures, int variant,
                      size_t offset)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < study->entry_count; i++) {
        double value = *(const double *)((const char *)&measures[i] + offset);
        if (measures[i].variant != variant || measures[i].state != STUDY_DONE || !isfinite(value))
            continue;
        sum += value;
        count++;
    }
    return count > 0 ? sum / count : NAN;
}

/* Of all counted epochs of a variant's done runs; `scratch` has room for them. */
static struct study_spread spread_of_samples(const struct study *study,
                                             const struct study_measure *measures, int variant,
                                             bool rates, double *scratch)
{
    size_t count = 0;
    for (int i = 0; i < study->entry_count; i++) {
        const struct study_measure *measure = &measures[i];
        if (measure->variant != variant || measure->state != STUDY_DONE || measure->samples == 0)
            continue;
        memcpy(scratch + count, rates ? measure->samples_per_s : measure->s_per_epoch,
               measure->samples * sizeof *scratch);
        count += measure->samples;
    }
    return study_spread(scratch, count);
}

static struct study_spread spread_of_runs(const struct study *study,
                                          const struct study_measure *measures, int variant,
                                          bool target, double *scratch)
{
    size_t count = 0;
    for (int i = 0; i < study->entry_count; i++)
        if (measures[i].variant == variant && measures[i].state == STUDY_DONE)
            scratch[count++] = target ? measures[i].target_s : measures[i].test_acc;
    return study_spread(scratch, count);
}

static void count_runs(const struct study *study, const struct study_measure *measures, int variant,
                       struct study_row *row)
{
    for (int i = 0; i < study->entry_count; i++) {
        if (measures[i].variant != variant)
            continue;
        bool failed = measures[i].state == STUDY_FAILED;
        row->done += measures[i].state == STUDY_DONE;
        row->failed += failed;
        if (failed && !row->reason)
            row->reason = study->entries[i].reason;
    }
    row->missing = study->repeats - row->done - row->failed;
}

static void fill_row(const struct study *study, const struct study_measure *measures, int variant,
                     double *scratch, struct study_row *row)
{
    *row = (struct study_row){.variant = &study->variants[variant]};
    count_runs(study, measures, variant, row);
    row->s_per_epoch = spread_of_samples(study, measures, variant, false, scratch);
    row->samples_per_s = spread_of_samples(study, measures, variant, true, scratch);
    row->test_acc = spread_of_runs(study, measures, variant, false, scratch);
    row->target_s = spread_of_runs(study, measures, variant, true, scratch);
#define MEAN(member)                                                                               \
    row->member = mean_of(study, measures, variant, offsetof(struct study_measure, member))
    MEAN(sync_share);
    MEAN(wait_share);
    MEAN(device_rate);
    MEAN(rows);
    MEAN(wall_s);
#undef MEAN
}

static void choose_base(struct study_table *table)
{
    table->base = table->last = -1;
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        bool by_devices = table->study->kind == STUDY_DEVICES;
        if (row->samples_per_s.count == 0)
            continue;
        if (table->base < 0 ||
            (by_devices && row->variant->devices < table->rows[table->base].variant->devices))
            table->base = i;
        if (table->last < 0 ||
            (by_devices && row->variant->devices >= table->rows[table->last].variant->devices))
            table->last = i;
    }
}

static void compare_rows(struct study_table *table)
{
    for (int i = 0; i < table->count; i++) {
        struct study_row *row = &table->rows[i];
        row->speed_up = row->efficiency = NAN;
        if (table->base < 0)
            continue;
        const struct study_row *base = &table->rows[table->base];
        row->speed_up = row->samples_per_s.median / base->samples_per_s.median;
        if (table->study->kind == STUDY_DEVICES && base->variant->devices > 0)
            row->efficiency = row->speed_up * base->variant->devices / row->variant->devices;
    }
}

bool study_tabulate(const struct study *study, const struct study_measure *measures,
                    struct study_table *table, struct error *err)
{
    size_t room = (size_t)study->entry_count;
    *table = (struct study_table){.study = study, .count = study->variant_count};
    for (int i = 0; i < study->entry_count; i++) {
        room += measures[i].samples;
        if (measures[i].state == STUDY_DONE && measures[i].warmup > table->warmup)
            table->warmup = measures[i].warmup;
    }
    double *scratch = calloc(room, sizeof *scratch);
    if (!scratch)
        return error_memory(err, "figures");
    for (int i = 0; i < table->count; i++)
        fill_row(study, measures, i, scratch, &table->rows[i]);
    free(scratch);
    choose_base(table);
    compare_rows(table);
    return true;
}

const char *study_warmup_words(enum study_warmup warmup)
{
    static const char *const words[] = {
        "without each run's first epoch (warm-up)",
        "without the first tenth of each run's steps (warm-up)",
        "with the warm-up: there are too few steps to leave any out",
    };
    return words[warmup];
}

/* What a run of a variant will take by those on other numbers of devices, else by their mean. */
static double foreseen(const struct study *study, const double *walls, int variant)
{
    int measured[STUDY_VARIANTS], count = 0;
    double seconds[STUDY_VARIANTS], sum = 0;
    bool at_least = false;
    if (isfinite(walls[variant]))
        return walls[variant];
    for (int devices = 1; devices <= SPEC_MAX_DEVICES; devices++)
        for (int i = 0; i < study->variant_count; i++)
            if (study->variants[i].devices == devices && isfinite(walls[i]) &&
                (count == 0 || measured[count - 1] < devices)) {
                measured[count] = devices;
                seconds[count++] = walls[i];
            }
    if (study->kind == STUDY_DEVICES && count > 1)
        return sweep_estimate(measured, seconds, count, study->variants[variant].devices,
                              &at_least);
    count = 0;
    for (int i = 0; i < study->variant_count; i++)
        if (isfinite(walls[i])) {
            sum += walls[i];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

double study_seconds_left(const struct study *study, const struct study_measure *measures,
                          double running_s)
{
    double walls[STUDY_VARIANTS], left = 0;
    for (int i = 0; i < study->variant_count; i++)
        walls[i] = mean_of(study, measures, i, offsetof(struct study_measure, wall_s));
    for (int i = 0; i < study->entry_count; i++) {
        enum study_state state = study->entries[i].state;
        double expected = foreseen(study, walls, study->entries[i].variant);
        if (state == STUDY_RUNNING)
            left += isfinite(running_s) ? running_s : expected;
        else if (state != STUDY_DONE && state != STUDY_FAILED)
            /* With nothing done yet the one at work is all there is to go by. */
            left += isfinite(expected) ? expected : running_s;
    }
    return left;
}

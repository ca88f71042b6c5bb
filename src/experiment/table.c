/* SPDX-License-Identifier: MIT */
#include "experiment/table.h"

#include <math.h>
#include <stdlib.h>

static bool is_done(const struct study_run *run, int variant)
{
    return run->variant == variant && run->state == STUDY_DONE;
}

static void count_runs(const struct study *study, const struct study_run *runs, int variant,
                       struct study_row *row)
{
    for (int i = 0; i < study->entry_count; i++) {
        row->done += is_done(&runs[i], variant);
        row->failed += runs[i].variant == variant && runs[i].state == STUDY_FAILED;
    }
    row->missing = study->repeats - row->done - row->failed;
}

/* `measures` has room for those of a variant. */
static bool fill_row(const struct study *study, const struct study_run *runs, int variant,
                     const struct measure **measures, struct study_row *row, struct error *err)
{
    int count = 0;
    *row = (struct study_row){.variant = &study->variants[variant]};
    count_runs(study, runs, variant, row);
    for (int i = 0; i < study->entry_count; i++)
        if (is_done(&runs[i], variant))
            measures[count++] = &runs[i].measure;
    bool ok = outcome_make(&row->outcome, measures, count, study->target_acc, err);
    row->outcome.devices = row->variant->devices;
    row->outcome.cpus = row->variant->cpus;
    row->outcome.threads = row->variant->threads;
    row->outcome.strategy = row->variant->strategy;
    return ok;
}

static void choose_base(struct study_table *table)
{
    table->base = table->last = -1;
    for (int i = 0; i < table->count; i++) {
        const struct study_row *row = &table->rows[i];
        bool by_devices = table->study->kind == STUDY_DEVICES;
        if (row->outcome.samples_per_s.count == 0)
            continue;
        if (table->base < 0 ||
            (by_devices && row->variant->devices < table->rows[table->base].variant->devices))
            table->base = i;
        if (table->last < 0 ||
            (by_devices && row->variant->devices >= table->rows[table->last].variant->devices))
            table->last = i;
    }
}

bool study_tabulate(const struct study *study, const struct study_run *runs,
                    struct study_table *table, struct error *err)
{
    const struct measure **measures = calloc((size_t)study->entry_count + 1, sizeof *measures);
    bool ok = measures || error_memory(err, "comparison");
    *table = (struct study_table){.study = study, .count = study->variant_count};
    for (int i = 0; ok && i < table->count; i++) {
        ok = fill_row(study, runs, i, measures, &table->rows[i], err);
        table->warm_up |= table->rows[i].outcome.warm_up;
    }
    free(measures);
    if (!ok)
        return false;
    choose_base(table);
    for (int i = 0; table->base >= 0 && i < table->count; i++) {
        struct outcome *outcome = &table->rows[i].outcome;
        outcome_compare(outcome, &table->rows[table->base].outcome);
        if (study->kind != STUDY_DEVICES)
            outcome->efficiency = NAN;
    }
    return true;
}

bool study_validated(const struct study_table *table)
{
    for (int i = 0; i < table->count; i++)
        if (table->rows[i].outcome.validated)
            return true;
    return false;
}

const char *study_warm_up_words(const struct study_table *table)
{
    return table->warm_up ? "with the warm-up where a run has a single epoch"
                          : "without each run's first epoch (warm-up)";
}

static double mean_wall(const struct study *study, const struct study_run *runs, int variant)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < study->entry_count; i++) {
        if (!is_done(&runs[i], variant) || !isfinite(runs[i].wall_s))
            continue;
        sum += runs[i].wall_s;
        count++;
    }
    return count > 0 ? sum / count : NAN;
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

double study_seconds_left(const struct study *study, const struct study_run *runs, double running_s)
{
    double walls[STUDY_VARIANTS], left = 0;
    for (int i = 0; i < study->variant_count; i++)
        walls[i] = mean_wall(study, runs, i);
    for (int i = 0; i < study->entry_count; i++) {
        enum study_state state = study->entries[i].state;
        double expected = foreseen(study, walls, study->entries[i].variant);
        if (state == STUDY_RUNNING)
            left += isfinite(running_s) ? running_s : expected;
        else if (state != STUDY_DONE && state != STUDY_FAILED)
            /* With nothing done yet the current one is all there is to go by. */
            left += isfinite(expected) ? expected : running_s;
    }
    return left;
}

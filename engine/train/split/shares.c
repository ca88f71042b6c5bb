/* SPDX-License-Identifier: MIT */
#include "engine/train/split/shares.h"

#include "base/text.h"
#include "engine/train/split/split.h"

/*
 * Evaluation keeps no activations for a backward pass, so it can afford batches of some size even
 * where the shards of training are tiny.
 */
enum { EVAL_ROWS = 128, EVAL_ROWS_OF_STAGES = 32 };

static long whole_batch(const struct spec *spec, long train_rows)
{
    return train_rows > 0 && train_rows < spec->batch ? train_rows : spec->batch;
}

static bool split_full(const struct spec *spec, long train_rows, long *full, struct error *err)
{
    return split_rows(spec->split, spec->weights, whole_batch(spec, train_rows),
                      spec->devices.count, full, err);
}

/* Like `full` rather than by the spec, where `auto` has found other shares. */
static bool split_like(const struct spec *spec, const long *full, enum split_rule otherwise,
                       long rows, long *sizes, struct error *err)
{
    double weights[SPEC_MAX_DEVICES];
    int count = spec->devices.count;
    if (spec->split != SPLIT_AUTO)
        return split_rows(otherwise, spec->weights, rows, count, sizes, err);
    for (int i = 0; i < count; i++)
        weights[i] = (double)full[i];
    return split_rows(SPLIT_WEIGHTED, weights, rows, count, sizes, err);
}

long share_short_batch(const struct spec *spec, long train_rows)
{
    const long batch = whole_batch(spec, train_rows);
    const long rest = train_rows % batch, steps = train_rows / batch + (rest > 0);
    const bool occurs = spec->epochs > 0 && (spec->max_steps == 0 || spec->max_steps >= steps);
    return occurs ? rest : 0;
}

static bool share_training(const struct spec *spec, const long *full, long train_rows,
                           struct row_shares *shares, struct error *err)
{
    long rest[SPEC_MAX_DEVICES] = {0}, batch = full[0];
    int count = spec->devices.count;
    for (int i = 1; i < count; i++)
        batch += full[i];
    const long left = share_short_batch(spec, train_rows);
    shares->rest_occurs = left > 0;
    if (shares->rest_occurs && !split_like(spec, full, spec->split, left, rest, err))
        return error_prefix(err, "the last batch of %ld row%s in batches of %ld", train_rows,
                            plural(train_rows), batch);
    for (int i = 0; i < count; i++)
        shares->device[i] = (struct row_share){.full = full[i], .rest = rest[i]};
    return true;
}

/*
 * Rows of a batch in evaluation. With `auto` always the same, so that other shares need a new plan
 * for the last batch only.
 */
static long evaluation_batch(const struct spec *spec, const long *full)
{
    long most = 0, batch = 0;
    int count = spec->devices.count;
    for (int i = 0; i < count; i++) {
        most = full[i] > most ? full[i] : most;
        batch += full[i];
    }
    if (spec->split == SPLIT_AUTO)
        most = (batch + count - 1) / count;
    return most > EVAL_ROWS ? most : EVAL_ROWS;
}

/* By weights where there are any, otherwise as equally as can be. */
static bool share_evaluation(const struct spec *spec, long test_rows, struct row_shares *shares,
                             struct error *err)
{
    enum split_rule rule = spec->split == SPLIT_WEIGHTED ? SPLIT_WEIGHTED : SPLIT_BALANCED;
    long full[SPEC_MAX_DEVICES], tests[SPEC_MAX_DEVICES], begin = 0;
    int count = spec->devices.count;
    for (int i = 0; i < count; i++)
        full[i] = shares->device[i].full;
    if (!split_like(spec, full, rule, test_rows, tests, err))
        return false;
    long most = evaluation_batch(spec, full);
    for (int i = 0; i < count; i++) {
        struct row_share *share = &shares->device[i];
        share->eval_begin = begin;
        share->eval_rows = tests[i];
        share->eval_full = test_rows > 0 && tests[i] < most ? tests[i] : most;
        share->eval_rest = tests[i] > most ? tests[i] % most : 0;
        begin += tests[i];
    }
    return true;
}

/* Of an evaluation by stages, what they hand over has room for these, slot by slot. */
static long stage_evaluation_rows(const struct spec *spec, long batch)
{
    const long parts = spec->micro_batches > 0 ? spec->micro_batches : 1;
    const long micro = (batch + parts - 1) / parts;
    return micro > EVAL_ROWS             ? EVAL_ROWS
           : micro > EVAL_ROWS_OF_STAGES ? micro
                                         : EVAL_ROWS_OF_STAGES;
}

/* Rows that each of `count` devices computes all of. */
static void share_among(struct row_share *devices, int count, struct row_share share, long most)
{
    share.eval_full = share.eval_rows > 0 && share.eval_rows < most ? share.eval_rows : most;
    share.eval_rest = share.eval_rows % share.eval_full;
    for (int i = 0; i < count; i++)
        devices[i] = share;
}

/* The stages of a pipeline, in training a micro-batch at a time, compute the rows of that. */
static bool share_pipelines(const struct spec *spec, long train_rows, long test_rows,
                            struct row_shares *shares, struct error *err)
{
    const long batch = whole_batch(spec, train_rows), left = share_short_batch(spec, train_rows);
    const int count = (int)spec->replicas, stages = spec_stages(spec);
    long full[SPEC_MAX_DEVICES], rest[SPEC_MAX_DEVICES], tests[SPEC_MAX_DEVICES], begin = 0;
    shares->rest_occurs = left > 0;
    if (!split_rows(spec->split, spec->weights, batch, count, full, err) ||
        !split_rows(SPLIT_BALANCED, spec->weights, test_rows, count, tests, err))
        return false;
    if (!split_rows(spec->split, spec->weights, left, count, rest, err))
        return error_prefix(err, "the last batch of %ld row%s in batches of %ld", train_rows,
                            plural(train_rows), batch);
    for (int i = 0; i < count; i++) {
        const struct row_share share = {
            .full = full[i], .rest = rest[i], .eval_begin = begin, .eval_rows = tests[i]};
        share_among(&shares->device[i * stages], stages, share,
                    stage_evaluation_rows(spec, full[0]));
        begin += tests[i];
    }
    return true;
}

/* Slices all compute every row. */
static void share_all(const struct spec *spec, long train_rows, long test_rows,
                      struct row_shares *shares)
{
    const struct row_share share = {.full = whole_batch(spec, train_rows),
                                    .rest = share_short_batch(spec, train_rows),
                                    .eval_rows = test_rows};
    shares->rest_occurs = share.rest > 0;
    share_among(shares->device, spec->devices.count, share, EVAL_ROWS);
}

long share_most_rows(const struct spec *spec, long train_rows)
{
    const long batch = whole_batch(spec, train_rows);
    return batch > EVAL_ROWS ? batch : EVAL_ROWS;
}

/* All devices take part in each batch of an evaluation. */
static bool share_common_evaluation(const struct spec *spec, long train_rows, long test_rows,
                                    struct row_shares *shares, struct error *err)
{
    const enum split_rule rule = spec->split == SPLIT_WEIGHTED ? SPLIT_WEIGHTED : SPLIT_BALANCED;
    const long most = share_most_rows(spec, train_rows);
    const long batch = test_rows > 0 && test_rows < most ? test_rows : most;
    const int count = spec->devices.count;
    long full[SPEC_MAX_DEVICES], rest[SPEC_MAX_DEVICES];
    if (!split_rows(rule, spec->weights, batch, count, full, err) ||
        !split_rows(rule, spec->weights, test_rows % batch, count, rest, err))
        return false;
    for (int i = 0; i < count; i++) {
        struct row_share *share = &shares->device[i];
        share->eval_rows = test_rows;
        share->eval_full = full[i];
        share->eval_rest = rest[i];
    }
    return true;
}

bool share_rows_like(const struct spec *spec, const long *full, long train_rows, long test_rows,
                     struct row_shares *shares, struct error *err)
{
    if (spec->strategy == STRATEGY_PIPELINE)
        return share_pipelines(spec, train_rows, test_rows, shares, err);
    if (spec->strategy == STRATEGY_TENSOR) {
        share_all(spec, train_rows, test_rows, shares);
        return true;
    }
    return share_training(spec, full, train_rows, shares, err) &&
           (spec->strategy == STRATEGY_MIXED
                ? share_common_evaluation(spec, train_rows, test_rows, shares, err)
                : share_evaluation(spec, test_rows, shares, err));
}

bool share_rows(const struct spec *spec, long train_rows, long test_rows, struct row_shares *shares,
                struct error *err)
{
    long full[SPEC_MAX_DEVICES] = {0};
    return (!strategy_divides_rows(spec->strategy) || split_full(spec, train_rows, full, err)) &&
           share_rows_like(spec, full, train_rows, test_rows, shares, err);
}

void share_threads(const struct spec *spec, int *threads)
{
    int cpus = 0;
    for (int i = 0; i < spec->devices.count; i++) {
        bool cpu = spec->devices.id[i].kind == DEVICE_CPU;
        threads[i] = !cpu ? 1 : spec->thread_count > 0 ? spec->threads[cpus] : spec->cpu_threads;
        cpus += cpu;
    }
}

bool cpus_suffice(const int *threads, int devices, int cpu_count)
{
    long wanted = 0;
    for (int i = 0; i < devices; i++)
        wanted += threads[i];
    return wanted <= cpu_count;
}

int first_cpu(const struct device_id *devices, const int *threads, int index)
{
    int first = 0;
    for (int i = 0; i < index; i++)
        first += devices[i].kind == DEVICE_CPU ? threads[i] : 0;
    return first;
}

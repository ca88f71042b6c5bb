/* SPDX-License-Identifier: MIT */
#include "engine/train/shares.h"

#include "engine/train/split.h"

/*
 * Evaluation keeps no activations for a backward pass, so it can afford batches of some size even
 * where the shards of training are tiny.
 */
enum { EVAL_ROWS = 128 };

static bool share_training(const struct spec *spec, long train_rows, struct row_shares *shares,
                           struct error *err)
{
    long full[SPEC_MAX_DEVICES], rest[SPEC_MAX_DEVICES] = {0};
    int count = spec->devices.count;
    long batch = train_rows > 0 && train_rows < spec->batch ? train_rows : spec->batch;
    long left = train_rows % batch, steps = train_rows / batch + (left > 0);
    shares->rest_occurs =
        left > 0 && spec->epochs > 0 && (spec->max_steps == 0 || spec->max_steps >= steps);
    if (!split_rows(spec->split, spec->weights, batch, count, full, err))
        return false;
    if (shares->rest_occurs && !split_rows(spec->split, spec->weights, left, count, rest, err))
        return error_prefix(err, "the last batch of %ld rows in batches of %ld", train_rows, batch);
    for (int i = 0; i < count; i++)
        shares->device[i] = (struct row_share){.full = full[i], .rest = rest[i]};
    return true;
}

/* By weights where there are any, otherwise as equally as can be. */
static bool share_evaluation(const struct spec *spec, long test_rows, struct row_shares *shares,
                             struct error *err)
{
    enum split_rule rule = spec->split == SPLIT_WEIGHTED ? SPLIT_WEIGHTED : SPLIT_BALANCED;
    long tests[SPEC_MAX_DEVICES], most = EVAL_ROWS, begin = 0;
    int count = spec->devices.count;
    if (!split_rows(rule, spec->weights, test_rows, count, tests, err))
        return false;
    for (int i = 0; i < count; i++)
        if (shares->device[i].full > most)
            most = shares->device[i].full;
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

bool share_rows(const struct spec *spec, long train_rows, long test_rows, struct row_shares *shares,
                struct error *err)
{
    return share_training(spec, train_rows, shares, err) &&
           share_evaluation(spec, test_rows, shares, err);
}

/* A CPU device keeps its threads busy; another one only the thread that directs it. */
bool cpus_suffice(const struct device_list *devices, int threads, int cpu_count)
{
    long wanted = 0;
    for (int i = 0; i < devices->count; i++)
        wanted += devices->id[i].kind == DEVICE_CPU ? threads : 1;
    return wanted <= cpu_count;
}

int first_cpu(const struct device_list *devices, int threads, int index)
{
    int first = 0;
    for (int i = 0; i < index; i++)
        first += devices->id[i].kind == DEVICE_CPU ? threads : 0;
    return first;
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/step/ranks.h"

#include <stdlib.h>

#include "engine/backends/registry.h"
#include "engine/train/step/rank.h"
#include "engine/train/sync/choose.h"
#include "engine/train/sync/collective.h"
#include "system/affinity.h"

/* The slowest devices worth waiting for: a GPU; a hundredth of one core of a small computer. */
static const double SLOWEST_GPU_FLOPS = 1e11, SLOWEST_FLOPS = 1e8;

/* For how long a thread looks for its next task: between two steps the owner needs a fraction. */
static const double SPIN_S = 200e-6;

/* Where each rank has rows of a pass that all compute together. */
static void find_rows(struct ranks *ranks)
{
    int sum[2][PASS_SIZES] = {{0}};
    for (int i = 0; i < ranks->count; i++)
        for (int size = 0; size < PASS_SIZES; size++) {
            struct rank *rank = &ranks->rank[i];
            rank->train[size].before = sum[0][size];
            rank->eval[size].before = sum[1][size];
            sum[0][size] += rank->train[size].rows;
            sum[1][size] += rank->eval[size].rows;
        }
    for (int i = 0; i < ranks->count; i++)
        for (int size = 0; size < PASS_SIZES; size++) {
            ranks->rank[i].train[size].global_rows = sum[0][size];
            ranks->rank[i].eval[size].global_rows = sum[1][size];
        }
}

void ranks_take_shares(struct ranks *ranks, const struct row_shares *shares)
{
    ranks->statistics_from = 0;
    while (shares->device[ranks->statistics_from].full == 0)
        ranks->statistics_from++;
    for (int i = 0; i < ranks->count; i++) {
        const struct row_share *share = &shares->device[i];
        struct rank *rank = &ranks->rank[i];
        rank->train[PASS_FULL].rows = (int)share->full;
        rank->train[PASS_SHORT].rows = (int)share->rest;
        rank->trains_short = shares->rest_occurs;
        rank->eval_begin = share->eval_begin;
        rank->eval_rows = share->eval_rows;
        rank->eval[PASS_FULL].rows = (int)share->eval_full;
        rank->eval[PASS_SHORT].rows = (int)share->eval_rest;
    }
    if (ranks->spec->strategy == STRATEGY_MIXED)
        find_rows(ranks);
    /* Several devices measure the noise as they are. */
    struct rank *alone = &ranks->rank[0];
    ranks->measures_halves = ranks->count == 1 && !ranks->link && ranks->spec->noise_every > 0 &&
                             alone->train[PASS_FULL].rows > 1;
    alone->half.rows = ranks->measures_halves ? alone->train[PASS_FULL].rows / 2 : 0;
}

bool ranks_create(struct ranks *ranks, struct error *err)
{
    const struct device_list *devices = &ranks->spec->devices;
    struct row_shares shares;
    ranks->count = ranks->here = devices->count;
    if (ranks->link) {
        const struct host_link *link = ranks->link;
        ranks->map = host_map_make(devices, &link->hosts);
        ranks->first = ranks->map.begin[link->index];
        ranks->here = ranks->map.begin[link->index + 1] - ranks->first;
    }
    for (int i = 0; i < devices->count; i++) {
        struct rank *rank = &ranks->rank[i];
        const char *why = "no backend";
        rank->ranks = ranks;
        rank->index = i;
        rank->options.id = devices->id[i];
        ranks->names[i] = device_id_text(devices->id[i], rank->name);
        atomic_init(&rank->activity, ACTIVITY_PREPARE);
        if (ranks->predictions &&
            !confusion_create(&rank->confusion, ranks->work->net->classes, err))
            return false;
        const bool here = i >= ranks->first && i < ranks->first + ranks->here;
        rank->backend = here ? backend_find(devices->id[i].kind, &why) : NULL;
        if (here && !rank->backend)
            return error_set(err, ERROR_USAGE, "%s: %s", rank->name, why);
    }
    if (!share_rows(ranks->spec, ranks->work->train_rows, ranks->work->evaluated->rows, &shares,
                    err))
        return false;
    ranks_take_shares(ranks, &shares);
    return true;
}

void ranks_shard(const struct ranks *ranks, int index, enum pass_size size, long *before,
                 long *rows)
{
    *before = 0;
    for (int i = 0; i < index; i++)
        *before += ranks->rank[i].train[size].rows;
    *rows = ranks->rank[index].train[size].rows;
}

double ranks_step_flops(const struct ranks *ranks, enum pass_size size)
{
    int most = 0;
    for (int i = 0; i < ranks->count; i++) {
        int rows = ranks->rank[i].train[size].rows;
        most = rows > most ? rows : most;
    }
    return most * net_training_flops(ranks->work->net);
}

/* Consecutive CPUs for each CPU device where there are enough; otherwise the system schedules. */
static bool take_cpus(struct ranks *ranks, bool *crowded, struct error *err)
{
    const struct device_list *devices = &ranks->spec->devices;
    int count, all[SPEC_MAX_DEVICES];
    const int *threads = all + ranks->first;
    share_threads(ranks->spec, all);
    if (!affinity_cpus(&ranks->cpus, &count, err))
        return false;
    *crowded = !cpus_suffice(threads, ranks->here, count);
    for (int i = 0; i < ranks->here; i++) {
        struct device_options *options = &ranks->rank[ranks->first + i].options;
        if (options->id.kind != DEVICE_CPU)
            continue;
        options->threads = threads[i];
        if (!*crowded) {
            options->cpus = ranks->cpus + first_cpu(devices->id + ranks->first, threads, i);
            options->cpu_count = threads[i];
        }
    }
    return true;
}

static bool device_called_off(void *context)
{
    return barrier_is_aborted(((struct rank *)context)->ranks->barrier);
}

static bool device_check(void *context, struct error *err)
{
    const struct rank *rank = context;
    return sync_check(rank->group, rank->group_number, err);
}

/* Beside GPUs, whose type the run's is, a CPU device that lacks it computes in f32. */
static void take_options(struct ranks *ranks, double work)
{
    const struct spec *spec = ranks->spec;
    const bool gpus = device_count_kind(spec->devices.id, spec->devices.count, DEVICE_CUDA) > 0;
    for (int i = ranks->first; i < ranks->first + ranks->here; i++) {
        struct device_options *options = &ranks->rank[i].options;
        options->type = gpus ? backend_type(ranks->rank[i].backend, spec->dtype) : spec->dtype;
        options->deterministic = spec->deterministic;
        options->watch = (struct device_watch){
            .limit_s = ranks->stall_s + work / SLOWEST_GPU_FLOPS,
            .called_off = device_called_off,
            .check = device_check,
            .context = &ranks->rank[i],
        };
    }
}

static void abandoned(void *context)
{
    struct ranks *ranks = context;
    ranks->abandoned(ranks->owner);
}

bool ranks_start(struct ranks *ranks, struct error *err)
{
    bool crowded = false;
    struct worker_tasks tasks = {
        .context = ranks, .conclude = rank_conclude, .close = rank_close, .abandoned = abandoned};
    double work = net_training_flops(ranks->work->net) * (double)ranks->spec->batch;
    /* A second net: the owner watches for hanging devices and reports them better. */
    ranks->wait_limit_s = 4 * ranks->stall_s + work / SLOWEST_FLOPS;
    if (!take_cpus(ranks, &crowded, err) ||
        !barrier_create(ranks->here, ranks->names + ranks->first, ranks->wait_limit_s, !crowded,
                        &ranks->barrier, err))
        return false;
    ranks->group.ends = ranks->ends;
    for (int i = 0; i < ranks->here; i++) {
        ranks->rank[ranks->first + i].group = &ranks->group;
        ranks->rank[ranks->first + i].group_number = i;
    }
    tasks.first = ranks->first;
    tasks.spin_s = ranks->spin_s = crowded ? 0 : SPIN_S;
    take_options(ranks, work);
    return workers_start(ranks->here, ranks->names + ranks->first, &tasks, &ranks->workers, err);
}

void ranks_release(struct ranks *ranks)
{
    sync_close(&ranks->group);
    barrier_destroy(ranks->barrier);
    for (int i = 0; i < ranks->count; i++)
        confusion_free(&ranks->rank[i].confusion);
    free(ranks->cpus);
}

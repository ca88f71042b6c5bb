/* SPDX-License-Identifier: MIT */
#include "engine/train/resolve/inspect.h"

#include <stdio.h>
#include <sys/statvfs.h>

#include "engine/train/resolve/optimizer.h"
#include "engine/train/resolve/parallel.h"

static uint64_t shared_memory(void)
{
    struct statvfs info;
    if (statvfs("/dev/shm", &info) != 0)
        return 0;
    return (uint64_t)info.f_bavail * info.f_frsize;
}

/* The names of the models of one kind of devices. */
static void name_models(struct ranks *ranks, enum device_kind kind)
{
    struct device_info infos[SPEC_MAX_DEVICES];
    struct error ignored = ERROR_INIT;
    char why[160];
    int count = 0;
    const struct backend *backend = NULL;
    for (int i = ranks->first; i < ranks->first + ranks->here; i++)
        if (ranks->rank[i].options.id.kind == kind)
            backend = ranks->rank[i].backend;
    if (!backend || !backend->enumerate(infos, SPEC_MAX_DEVICES, &count, why, sizeof why, &ignored))
        return;
    for (int i = ranks->first; i < ranks->first + ranks->here; i++) {
        const struct device_id id = ranks->rank[i].options.id;
        char *model = ranks->rank[i].model;
        for (int j = 0; j < count && id.kind == kind; j++)
            /* Every CPU device is a part of the same machine, whatever its index. */
            if (kind == DEVICE_CPU || infos[j].id.index == id.index)
                snprintf(model, sizeof ranks->rank[i].model, "%s", infos[j].name);
    }
}

void inspect_models(struct ranks *ranks)
{
    name_models(ranks, DEVICE_CPU);
    name_models(ranks, DEVICE_CUDA);
}

/* The first BatchNorm over one pixel; NULL: there is none. */
static const char *lone_norm(const struct net *net)
{
    for (int i = 0; i < net->op_count; i++) {
        const struct net_op *op = &net->ops[i];
        const struct net_shape *shape = &net->tensors[op->output].shape;
        if (op->kind == NET_BATCHNORM && shape->h * shape->w == 1)
            return op->name;
    }
    return NULL;
}

static long least_micro_rows(const struct rank *rank)
{
    long least = 0;
    for (int size = PASS_FULL; size < PASS_SIZES; size++)
        for (int i = 0; i < 2; i++) {
            const long rows = rank->micro[size][i].rows;
            if (rows > 0 && (least == 0 || rows < least))
                least = rows;
        }
    return least;
}

/* The least rows above 0 of which a device takes statistics in a training step. */
static long least_rows(const struct ranks *ranks, const struct rank *rank)
{
    long least = 0;
    if (ranks->pipeline)
        return least_micro_rows(rank);
    for (int size = PASS_FULL; size < PASS_SIZES; size++) {
        long rows = 0;
        for (int i = 0; i < ranks->count; i++)
            if ((ranks->spec->sync_bn && strategy_divides_rows(ranks->spec->strategy)) ||
                i == rank->index)
                rows += ranks->rank[i].train[size].rows;
        bool occurs = size == PASS_FULL || ranks->work->train_rows % ranks->spec->batch != 0;
        if (occurs && rows > 0 && (least == 0 || rows < least))
            least = rows;
    }
    return least;
}

bool inspect_ranks(const struct ranks *ranks, const struct preflight_sink *sink, struct error *err)
{
    struct preflight_device devices[SPEC_MAX_DEVICES];
    for (int i = 0; i < ranks->count; i++) {
        const struct rank *rank = &ranks->rank[i];
        devices[i] = (struct preflight_device){
            .id = rank->options.id,
            .model = rank->model,
            .facts = rank->facts,
            .memory_bytes = atomic_load(&rank->memory_bytes),
            .least_rows = least_rows(ranks, rank),
        };
    }
    const struct preflight preflight = {
        .count = ranks->count,
        .devices = devices,
        .batch = ranks->spec->batch,
        .rows = ranks->work->train_rows,
        .split = ranks->spec->split,
        .schedule = &ranks->spec->schedule,
        .length = {ranks->work->steps_per_epoch,
                   workload_steps(ranks->work, ranks->spec->epochs, ranks->spec->max_steps)},
        .shared_memory = shared_memory(),
        .lone_norm = lone_norm(ranks->work->net),
        .may_sync_bn =
            ranks->count > 1 && !ranks->spec->sync_bn && ranks->spec->strategy == STRATEGY_DATA,
    };
    return preflight_check(&preflight, sink, err) && inspect_optimizer(ranks->spec, sink, err) &&
           inspect_parallel(ranks->spec, sink, err);
}

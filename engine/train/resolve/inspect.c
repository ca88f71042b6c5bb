/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <string.h>
#include <sys/statvfs.h>

#include "engine/train/resolve/preflight.h"

/* The preflight check of a run: what its devices say of themselves, brought together. */

static uint64_t shared_memory(void)
{
    struct statvfs info;
    if (statvfs("/dev/shm", &info) != 0)
        return 0;
    return (uint64_t)info.f_bavail * info.f_frsize;
}

static bool keep(void *context, const char *text, struct error *err)
{
    struct run *run = context;
    if (run->warning_count == RUN_WARNINGS)
        return true;
    char *copy = strdup(text);
    if (!copy)
        return error_memory(err, "warning");
    run->warnings[run->warning_count++] = copy;
    return true;
}

/* What the machine calls the devices of a kind. */
static void name_models(const struct run *run, enum device_kind kind, struct device_info *infos,
                        const char **models)
{
    struct error ignored = ERROR_INIT;
    char why[160];
    int count = 0;
    const struct backend *backend = NULL;
    for (int i = 0; i < run->rank_count; i++)
        if (run->ranks[i].options.id.kind == kind)
            backend = run->ranks[i].backend;
    if (!backend || !backend->enumerate(infos, SPEC_MAX_DEVICES, &count, why, sizeof why, &ignored))
        return;
    for (int i = 0; i < run->rank_count; i++) {
        struct device_id id = run->ranks[i].options.id;
        for (int j = 0; j < count && id.kind == kind; j++)
            /* Every CPU device is a part of the same machine, whatever its index. */
            if (kind == DEVICE_CPU || infos[j].id.index == id.index)
                models[i] = infos[j].name;
    }
}

void run_models(const struct run *run, struct device_info infos[2 * SPEC_MAX_DEVICES],
                const char **models)
{
    for (int i = 0; i < run->rank_count; i++)
        models[i] = "";
    name_models(run, DEVICE_CPU, infos, models);
    name_models(run, DEVICE_CUDA, infos + SPEC_MAX_DEVICES, models);
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

/* The least rows, but none, whose statistics a device takes in a training step. */
static long least_rows(const struct run *run, const struct rank *rank)
{
    long least = 0;
    for (int size = PASS_FULL; size < PASS_SIZES; size++) {
        long rows = 0;
        for (int i = 0; i < run->rank_count; i++)
            if (run->spec.sync_bn || i == rank->index)
                rows += run->ranks[i].train[size].rows;
        bool occurs = size == PASS_FULL || run->train_rows % run->spec.batch != 0;
        if (occurs && rows > 0 && (least == 0 || rows < least))
            least = rows;
    }
    return least;
}

bool run_inspect(struct run *run, struct error *err)
{
    struct preflight_device devices[SPEC_MAX_DEVICES];
    struct device_info infos[2 * SPEC_MAX_DEVICES];
    const char *models[SPEC_MAX_DEVICES];
    const struct preflight_sink sink = {keep, run};
    run_models(run, infos, models);
    for (int i = 0; i < run->rank_count; i++) {
        const struct rank *rank = &run->ranks[i];
        devices[i] = (struct preflight_device){
            .id = rank->options.id,
            .model = models[i],
            .facts = rank->facts,
            .memory_bytes = atomic_load(&rank->memory_bytes),
            .least_rows = least_rows(run, rank),
        };
    }
    const struct preflight preflight = {
        .count = run->rank_count,
        .devices = devices,
        .batch = run->spec.batch,
        .rows = run->train_rows,
        .split = run->spec.split,
        .shared_memory = shared_memory(),
        .lone_norm = lone_norm(run->net),
    };
    return preflight_check(&preflight, &sink, err);
}

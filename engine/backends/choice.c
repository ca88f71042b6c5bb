/* SPDX-License-Identifier: MIT */
#include "engine/backends/choice.h"

#include <stdio.h>

#include "base/text.h"
#include "engine/backends/registry.h"

/* The machine's GPUs. */
struct gpus {
    int count;
    struct device_info info[SPEC_MAX_DEVICES];
    char why[160]; /* there are none */
};

static bool find_gpus(struct gpus *gpus, struct error *err)
{
    const char *missing = "";
    const struct backend *backend = backend_find(DEVICE_CUDA, &missing);
    gpus->count = 0;
    snprintf(gpus->why, sizeof gpus->why, "%s", missing);
    return !backend || backend->enumerate(gpus->info, SPEC_MAX_DEVICES, &gpus->count, gpus->why,
                                          sizeof gpus->why, err);
}

static int take_available(const struct gpus *gpus, int wanted, struct device_id *ids)
{
    int taken = 0;
    for (int i = 0; i < gpus->count && taken < wanted; i++)
        if (gpus->info[i].available)
            ids[taken++] = gpus->info[i].id;
    return taken;
}

/* The first `wanted` GPUs that can be used; 0: all, but at least one. */
static bool take_gpus(const struct gpus *gpus, int wanted, struct device_id *ids, int *count,
                      struct error *err)
{
    *count = take_available(gpus, wanted > 0 ? wanted : SPEC_MAX_DEVICES, ids);
    if (*count == 0)
        return error_set(err, ERROR_USAGE, "no GPU to train on (%s); use --devices cpu:0",
                         gpus->count > 0 ? gpus->info[0].reason
                         : *gpus->why    ? gpus->why
                                         : "none found");
    if (*count < wanted)
        return error_set(err, ERROR_USAGE, "%d GPU%s asked for, %d can be used here", wanted,
                         plural(wanted), *count);
    return true;
}

static bool check_gpu(const struct gpus *gpus, struct device_id id, struct error *err)
{
    char name[DEVICE_NAME];
    device_id_text(id, name);
    if (gpus->count == 0)
        return error_set(err, ERROR_USAGE, "no device %s: %s", name,
                         *gpus->why ? gpus->why : "no GPU found");
    if (id.index < 0 || id.index >= gpus->count)
        return error_set(err, ERROR_USAGE, "no device %s: cuda:0 to cuda:%d can be named", name,
                         gpus->count - 1);
    const struct device_info *info = &gpus->info[id.index];
    return info->available || error_set(err, ERROR_USAGE, "%s (%s) cannot be used: %s", name,
                                        info->name, info->reason);
}

static bool check_cpu(struct device_id id, struct error *err)
{
    char name[DEVICE_NAME];
    return (id.index >= 0 && id.index < SPEC_MAX_DEVICES) ||
           error_set(err, ERROR_USAGE, "no device %s: cpu:0 to cpu:%d can be named",
                     device_id_text(id, name), SPEC_MAX_DEVICES - 1);
}

/* More CPU devices than cores may be named: they share the cores. The GPUs' driver is not asked for
 * CPU devices, so that these can be used whatever state it is in. */
static bool take_listed(const struct device_list *choice, struct device_id *ids, int *count,
                        struct error *err)
{
    struct gpus gpus;
    bool asked = false;
    if (choice->count < 1 || choice->count > SPEC_MAX_DEVICES)
        return error_set(err, ERROR_USAGE, "%d devices listed, 1 to %d can be used", choice->count,
                         SPEC_MAX_DEVICES);
    for (int i = 0; i < choice->count; i++) {
        struct device_id id = choice->id[i];
        if (id.kind == DEVICE_CUDA && !asked && !find_gpus(&gpus, err))
            return false;
        asked |= id.kind == DEVICE_CUDA;
        if (id.kind == DEVICE_CUDA ? !check_gpu(&gpus, id, err) : !check_cpu(id, err))
            return false;
        ids[i] = id;
    }
    *count = choice->count;
    return true;
}

/* Every GPU; where there is none, the first CPU device. */
static bool take_default(const struct gpus *gpus, struct device_id *ids, int *count)
{
    *count = take_available(gpus, SPEC_MAX_DEVICES, ids);
    if (*count == 0)
        ids[(*count)++] = (struct device_id){.kind = DEVICE_CPU};
    return true;
}

bool devices_resolve(const struct device_list *choice, struct device_id *ids, int *count,
                     struct error *err)
{
    struct gpus gpus;
    if (choice->choice == DEVICES_LISTED)
        return take_listed(choice, ids, count, err);
    if (!find_gpus(&gpus, err))
        return false;
    switch (choice->choice) {
    case DEVICES_DEFAULT:
        return take_default(&gpus, ids, count);
    case DEVICES_ALL_GPUS:
        return take_gpus(&gpus, 0, ids, count, err);
    case DEVICES_FIRST_GPUS:
        return take_gpus(&gpus, choice->count, ids, count, err);
    case DEVICES_FREE_GPUS: /* whoever asks has an engine choose before */
        return error_set(err, ERROR_USAGE, "free:%d: only an engine can choose: name devices",
                         choice->count);
    default:
        return error_set(err, ERROR_USAGE, "unknown choice of devices");
    }
}

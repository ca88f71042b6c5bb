/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "engine/device/cpu/backend.h"
#include "engine/device/device.h"

const struct backend *backend_find(enum device_kind kind, const char **why)
{
    if (kind == DEVICE_CPU)
        return &cpu_backend;
    *why = "this build trains on CPU devices only";
    return NULL;
}

/* How many GPUs can be used; `why` says why there are none. */
static bool count_gpus(int *count, char *why, size_t why_size, struct error *err)
{
    struct device_info list[SPEC_MAX_DEVICES];
    const char *missing = "";
    const struct backend *backend = backend_find(DEVICE_CUDA, &missing);
    *count = 0;
    snprintf(why, why_size, "%s", missing);
    if (!backend)
        return true;
    int found = 0;
    if (!backend->enumerate(list, SPEC_MAX_DEVICES, &found, why, why_size, err))
        return false;
    for (int i = 0; i < found; i++)
        *count += list[i].available;
    return true;
}

static bool take_gpus(int wanted, int gpus, const char *why, struct device_id *ids, int *count,
                      struct error *err)
{
    if (gpus == 0)
        return error_set(err, ERROR_USAGE, "no GPU to train on (%s); use --devices cpu:0",
                         *why ? why : "none found");
    if (wanted > gpus)
        return error_set(err, ERROR_USAGE, "%d GPUs asked for, this machine has %d", wanted, gpus);
    for (int i = 0; i < wanted; i++)
        ids[i] = (struct device_id){DEVICE_CUDA, i};
    *count = wanted;
    return true;
}

/* More CPU devices than cores may be named: they share the cores. */
static bool take_listed(const struct device_list *choice, int gpus, const char *why,
                        struct device_id *ids, int *count, struct error *err)
{
    char name[16];
    if (choice->count < 1 || choice->count > SPEC_MAX_DEVICES)
        return error_set(err, ERROR_USAGE, "%d devices listed, 1 to %d can be used", choice->count,
                         SPEC_MAX_DEVICES);
    for (int i = 0; i < choice->count; i++) {
        struct device_id id = choice->id[i];
        if (id.kind == DEVICE_CUDA && (id.index < 0 || id.index >= gpus))
            return error_set(err, ERROR_USAGE, "no device %s: %s", device_id_text(id, name),
                             *why        ? why
                             : gpus == 0 ? "no GPU found"
                                         : "this machine has fewer GPUs");
        if (id.kind == DEVICE_CPU && (id.index < 0 || id.index >= SPEC_MAX_DEVICES))
            return error_set(err, ERROR_USAGE, "no device %s: cpu:0 to cpu:%d can be named",
                             device_id_text(id, name), SPEC_MAX_DEVICES - 1);
        ids[i] = id;
    }
    *count = choice->count;
    return true;
}

bool devices_resolve(const struct device_list *choice, struct device_id *ids, int *count,
                     struct error *err)
{
    char why[160];
    int gpus;
    if (!count_gpus(&gpus, why, sizeof why, err))
        return false;
    switch (choice->choice) {
    case DEVICES_DEFAULT:
        if (gpus > 0)
            return take_gpus(gpus, gpus, why, ids, count, err);
        ids[0] = (struct device_id){DEVICE_CPU, 0};
        *count = 1;
        return true;
    case DEVICES_ALL_GPUS:
        return take_gpus(gpus, gpus, why, ids, count, err);
    case DEVICES_FIRST_GPUS:
        return take_gpus(choice->count, gpus, why, ids, count, err);
    case DEVICES_LISTED:
        return take_listed(choice, gpus, why, ids, count, err);
    }
    return error_set(err, ERROR_USAGE, "unknown choice of devices");
}

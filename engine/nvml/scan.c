/* SPDX-License-Identifier: MIT */
#include "engine/nvml/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nvml/library.h"

/* GPUs and MIG instances before CUDA_VISIBLE_DEVICES chooses among them. */
#define CANDIDATES 256

struct candidates {
    int count;
    struct gpu_name name[CANDIDATES];
    struct device {
        struct nvml_handle *handle, *mig;
        int broken;
    } device[CANDIDATES];
};

static void add(struct candidates *found, const struct gpu_name *name, struct device device)
{
    if (found->count == CANDIDATES)
        return;
    found->name[found->count] = *name;
    found->device[found->count++] = device;
}

/* A GPU that cannot be asked for its name still has the one it had. */
static void add_broken(struct candidates *found, const struct nvml_scan *before, int index,
                       int code)
{
    struct gpu_name name = {.gpu = index};
    bool known = false;
    for (int i = 0; i < before->count; i++) {
        if (before->gpu[i].name.gpu != index)
            continue;
        add(found, &before->gpu[i].name, (struct device){.broken = code});
        known = true;
    }
    if (!known)
        add(found, &name, (struct device){.broken = code});
}

static void read_uuid(const struct nvml_api *api, struct nvml_handle *handle, char *uuid)
{
    uuid[0] = '\0';
    if (NVML_CALL(api, uuid, handle, uuid, NVML_UUID_SIZE) != NVML_SUCCESS)
        uuid[0] = '\0';
    uuid[NVML_UUID_SIZE - 1] = '\0';
}

/* A GPU, or the MIG instances it is divided into. */
static void add_gpu(const struct nvml_api *api, struct candidates *found, int index,
                    struct nvml_handle *handle)
{
    struct gpu_name name = {.gpu = index};
    unsigned divided = 0, pending = 0, places = 0;
    read_uuid(api, handle, name.gpu_uuid);
    if (NVML_CALL(api, mig_mode, handle, &divided, &pending) != NVML_SUCCESS || !divided) {
        add(found, &name, (struct device){.handle = handle});
        return;
    }
    if (NVML_CALL(api, mig_count, handle, &places) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < places && i < CANDIDATES; i++) {
        struct nvml_handle *mig = NULL;
        if (NVML_CALL(api, mig_handle, handle, i, &mig) != NVML_SUCCESS || !mig)
            continue;
        read_uuid(api, mig, name.mig_uuid);
        if (name.mig_uuid[0])
            add(found, &name, (struct device){.handle = handle, .mig = mig});
    }
}

/* The number of GPUs that the driver knows; -1 and a reason: it does not say. */
static int find_candidates(const struct nvml_api *api, struct nvml_scan *scan,
                           struct candidates *found)
{
    unsigned count = 0;
    int code = NVML_CALL(api, count, &count);
    if (code != NVML_SUCCESS) {
        snprintf(scan->none.text, sizeof scan->none.text, "%s", nvml_words(code));
        return -1;
    }
    for (unsigned i = 0; i < count && i < CANDIDATES; i++) {
        struct nvml_handle *handle = NULL;
        code = NVML_CALL(api, handle, i, &handle);
        if (code == NVML_SUCCESS && handle)
            add_gpu(api, found, (int)i, handle);
        else
            add_broken(found, scan, (int)i, code ? code : NVML_UNKNOWN);
    }
    return (int)count;
}

static bool is_same(const struct nvml_gpu *gpu, const struct gpu_name *name,
                    const struct device *device)
{
    return gpu->name.gpu == name->gpu && gpu->handle == device->handle && gpu->mig == device->mig &&
           gpu->broken == device->broken && strcmp(gpu->name.gpu_uuid, name->gpu_uuid) == 0 &&
           strcmp(gpu->name.mig_uuid, name->mig_uuid) == 0;
}

static const struct nvml_gpu *find_before(const struct nvml_gpu *before, int count,
                                          const struct gpu_name *name)
{
    for (int i = 0; i < count; i++)
        if (before[i].name.gpu == name->gpu &&
            strcmp(before[i].name.gpu_uuid, name->gpu_uuid) == 0 &&
            strcmp(before[i].name.mig_uuid, name->mig_uuid) == 0)
            return &before[i];
    return NULL;
}

static bool take(const struct nvml_api *api, struct nvml_scan *scan, const struct candidates *found,
                 const int *order, int count)
{
    bool same = count == scan->count;
    for (int i = 0; same && i < count; i++)
        same = is_same(&scan->gpu[i], &found->name[order[i]], &found->device[order[i]]);
    if (same)
        return false;
    struct nvml_gpu *before = malloc(sizeof scan->gpu);
    if (!before)
        return false; /* at the next look, perhaps */
    memcpy(before, scan->gpu, sizeof scan->gpu);
    int count_before = scan->count;
    nvml_scan_end(api, scan);
    for (scan->count = 0; scan->count < count; scan->count++) {
        struct nvml_gpu *gpu = &scan->gpu[scan->count];
        const struct device *device = &found->device[order[scan->count]];
        *gpu = (struct nvml_gpu){.name = found->name[order[scan->count]],
                                 .handle = device->handle,
                                 .mig = device->mig,
                                 .broken = device->broken};
        nvml_gpu_begin(api, gpu);
        const struct nvml_gpu *known = find_before(before, count_before, &gpu->name);
        if (!gpu->broken || !known)
            continue;
        memcpy(gpu->figures.name, known->figures.name, sizeof gpu->figures.name);
        gpu->figures.cores = known->figures.cores;
        gpu->figures.memory_total = known->figures.memory_total;
    }
    free(before);
    return true;
}

bool nvml_scan_look(const struct nvml_api *api, const char *visible, struct nvml_scan *scan)
{
    int order[CANDIDATES];
    struct sensor_reason before = scan->none;
    struct candidates *found = calloc(1, sizeof *found);
    if (!found)
        return false;
    const char *none = "";
    int gpus = find_candidates(api, scan, found);
    int count = gpus_visible(visible, found->name, found->count, order);
    if (count > GPU_LIST_MAX)
        count = GPU_LIST_MAX;
    if (gpus == 0)
        none = "the NVIDIA driver has found no GPU";
    else if (found->count == 0)
        none = "every GPU is in MIG mode and none has a MIG instance: see nvidia-smi mig";
    else if (count == 0)
        none = "CUDA_VISIBLE_DEVICES hides every GPU";
    if (gpus >= 0)
        snprintf(scan->none.text, sizeof scan->none.text, "%s", none);
    bool changed = gpus >= 0 && take(api, scan, found, order, count);
    free(found);
    return changed || strcmp(before.text, scan->none.text) != 0;
}

void nvml_scan_end(const struct nvml_api *api, struct nvml_scan *scan)
{
    for (int i = 0; i < scan->count; i++)
        nvml_gpu_end(api, &scan->gpu[i]);
    scan->count = 0;
}

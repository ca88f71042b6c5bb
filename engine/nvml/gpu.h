/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/nvml/gpu_list.h"

/* One device on the NVML thread: how to ask for its values, and the last answers. */
struct nvml_gpu {
    struct gpu_name name;
    int broken;                            /* an NVML code: why there is no handle; 0: there is */
    struct nvml_handle *handle;            /* of the GPU */
    struct nvml_handle *mig;               /* of the MIG instance; NULL: the whole GPU */
    unsigned instance;                     /* of GPM: the MIG instance's number */
    struct nvml_gpm_sample *older, *newer; /* NULL: this device has no GPM */
    bool compared;                         /* `older` holds a sample */
    unsigned long long pcie[2];            /* counters, received and sent, when last read ... */
    double counted_at;                     /* ... then, in seconds; 0: not yet */
    unsigned long long used_until;         /* NVML's time of the newest use of a process read */
    unsigned long long started[GPU_PROCESSES]; /* when those of `figures` have; 0: not known */
    struct gpu_figures figures;
};

/* Names, sizes and abilities of a device whose `name`, `handle` and `mig` are set. */
void nvml_gpu_begin(const struct nvml_api *api, struct nvml_gpu *gpu);
void nvml_gpu_end(const struct nvml_api *api, struct nvml_gpu *gpu);

/*
 * Bring the figures up to `now` (seconds of a monotonic clock), those of `processes` only where
 * they are wanted. True: what can be seen changed. An error of one call only costs its figure;
 * *restart is set when the driver must be opened again.
 */
bool nvml_gpu_read(const struct nvml_api *api, struct nvml_gpu *gpu, double now, bool processes,
                   bool *restart);

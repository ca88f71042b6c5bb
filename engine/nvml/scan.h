/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/nvml/gpu.h"

/* The devices that CUDA would show, in its order, on the NVML thread. */
struct nvml_scan {
    int count;
    struct nvml_gpu gpu[GPU_LIST_MAX];
    struct sensor_reason none; /* why there are none */
};

/*
 * Look which devices there are; `visible`: CUDA_VISIBLE_DEVICES or NULL. What is known of those
 * that are still there stays, also of a GPU that got lost. True: the devices changed.
 */
bool nvml_scan_look(const struct nvml_api *api, const char *visible, struct nvml_scan *scan);
void nvml_scan_end(const struct nvml_api *api, struct nvml_scan *scan);

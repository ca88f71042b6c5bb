/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_DEVICES_H
#define DPARTUI_ENGINE_SERVER_DEVICES_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/device/device.h"
#include "engine/telemetry/gpu_list.h"

/* Every device of every kind that this build knows. */
struct device_table {
    int count;
    struct device_info info[SPEC_MAX_DEVICES];
};

bool device_table_fill(struct device_table *table, struct error *err);

/*
 * What the NVIDIA driver tells of the GPUs. Those of a backend are matched by UUID, and not
 * available when the driver says so; where this build has no backend for GPUs they are listed all
 * the same, first, and not available.
 */
void device_table_add_gpus(struct device_table *table, const struct gpu_list *gpus);

/* Why there are no GPUs, or null. */
json_t *no_gpus_json(const struct gpu_list *gpus);

/* {"device", "name", "uuid", "cores", "memory_total", "available", "reason"} of one device. */
json_t *device_info_json(const struct device_info *info);

#endif

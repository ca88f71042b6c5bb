/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/device/device.h"
#include "engine/nvml/gpu_list.h"
#include "engine/server/devices/gpu_survey.h"

/* Every device of every kind that this build knows. */
struct device_table {
    int count;
    struct device_info info[SPEC_MAX_DEVICES];
};

/* The CPU devices. */
bool device_table_fill(struct device_table *table, struct error *err);

/*
 * Put the GPUs first: those that this build's backend found. What the NVIDIA driver reports of them
 * is matched by UUID, and one that it gave up is not available. Where the backend has found none,
 * or there is none, the driver's GPUs are listed all the same, not available, with the reason.
 */
void device_table_add_gpus(struct device_table *table, const struct gpu_findings *findings,
                           const struct gpu_list *gpus);

/* Why there are no GPUs, or null. */
json_t *no_gpus_json(const struct gpu_findings *findings, const struct gpu_list *gpus);

/* {"device", "name", "uuid", "cores", "memory_total", "available", "reason"} of one device. */
json_t *device_info_json(const struct device_info *info);

/*
 * [{"pid", "user", "memory", "load", "command", "own", "reason"}, ...] of what uses a GPU, those
 * with the most memory first; null: the driver does not tell.
 */
json_t *gpu_processes_json(const struct gpu_figures *gpu);

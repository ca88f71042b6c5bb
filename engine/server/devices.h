/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_SERVER_DEVICES_H
#define DPARTUI_ENGINE_SERVER_DEVICES_H

#include <jansson.h>
#include <stdbool.h>

#include "engine/device/device.h"

/* Every device of every kind that this build knows. */
struct device_table {
    int count;
    struct device_info info[SPEC_MAX_DEVICES];
};

bool device_table_fill(struct device_table *table, struct error *err);

/* {"device", "name", "cores", "memory_total", "available", "reason"} of one device. */
json_t *device_info_json(const struct device_info *info);

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

bool cpu_replica_create(struct device *device, const struct net *net,
                        const struct replica_request *request, struct replica **out,
                        struct error *err);
void cpu_replica_destroy(struct device *device, struct replica *replica);
bool cpu_values_export(struct device *device, const struct replica *replica,
                       enum replica_arena arena, float *values, struct error *err);
bool cpu_values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                       const float *values, struct error *err);

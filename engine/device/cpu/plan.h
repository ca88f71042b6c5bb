/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

bool cpu_plan_create(struct device *device, struct replica *replica,
                     const struct plan_request *request, struct plan **out, struct error *err);
void cpu_plan_destroy(struct device *device, struct plan *plan);
void cpu_plan_memory(const struct plan *plan, struct plan_memory *out);
bool cpu_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                  struct batch_result *result, struct error *err);
struct plan_time *cpu_plan_profile(struct plan *plan, int *count);
bool cpu_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err);

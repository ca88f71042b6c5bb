/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

bool cpu_plan_create(struct device *device, struct replica *replica,
                     const struct plan_request *request, struct plan **out, struct error *err);
void cpu_plan_destroy(struct device *device, struct plan *plan);
void cpu_plan_memory(const struct plan *plan, struct plan_memory *out);
bool cpu_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                  struct batch_result *result, struct error *err);
bool cpu_plan_forward(struct device *device, struct plan *plan, const struct batch *batch,
                      const struct micro_batch *micro, struct batch_result *result,
                      struct error *err);
bool cpu_plan_backward(struct device *device, struct plan *plan, const struct batch *batch,
                       const struct micro_batch *micro, struct error *err);
bool cpu_plan_finish(struct device *device, struct plan *plan, int rows, bool first, bool *any,
                     struct error *err);
size_t cpu_stage_row(const struct replica *replica, bool output);
struct plan_time *cpu_plan_profile(struct plan *plan, int *count);
bool cpu_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* Plans, for struct backend. */
bool cuda_plan_create(struct device *device, struct replica *replica,
                      const struct plan_request *request, struct plan **out, struct error *err);
void cuda_plan_destroy(struct device *device, struct plan *plan);
void cuda_plan_memory(const struct plan *plan, struct plan_memory *out);
bool cuda_plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                   struct batch_result *result, struct error *err);
bool cuda_plan_queue(struct device *device, struct plan *plan, const struct batch *batch,
                     struct error *err);
struct plan_time *cuda_plan_profile(struct plan *plan, int *count);
const char *cuda_plan_note(const struct plan *plan);
bool cuda_plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err);

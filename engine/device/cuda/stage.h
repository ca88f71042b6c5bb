/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* Stages of a pipeline, for struct backend. */
bool cuda_plan_forward(struct device *device, struct plan *plan, const struct batch *batch,
                       const struct micro_batch *micro, struct batch_result *result,
                       struct error *err);
bool cuda_plan_backward(struct device *device, struct plan *plan, const struct batch *batch,
                        const struct micro_batch *micro, struct error *err);
size_t cuda_stage_row(const struct replica *replica, bool output);
bool cuda_stage_memory(struct device *device, size_t bytes, void **out, struct error *err);

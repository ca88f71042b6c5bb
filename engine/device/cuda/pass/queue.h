/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/*
 * Passes that are queued ahead. Begin the next one, whose slot (below PASSES_QUEUED) no other has
 * until it is taken, or undo that.
 */
bool cuda_queue_begin(struct device *device, struct plan *plan, int *slot, struct error *err);
void cuda_queue_undo(struct device *device);

/* The events of queued passes. */
bool cuda_queue_open(struct device *device, struct error *err);
void cuda_queue_close(struct device *device);

/* For struct backend. */
bool cuda_plan_squares(struct device *device, const struct replica *replica,
                       enum pass_squares which, size_t begin, size_t end, struct error *err);
bool cuda_plan_mark(struct device *device, enum pass_moment moment, struct error *err);
bool cuda_plan_take(struct device *device, struct pass_outcome *out, struct error *err);

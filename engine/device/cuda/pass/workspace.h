/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/pass/plan.h"

/* The memory that the plans of a device share: they run one at a time, so it is as large as the
 * largest needs. */

/* Room for the plan that was built. */
bool cuda_workspace_grow(struct device *device, const struct plan_core *core, struct error *err);
/* Addresses of the plan's buffers, and, of a stage, of what the micro-batch in `slot` keeps. */
void cuda_workspace_bind(struct device *device, struct plan *plan, int slot);

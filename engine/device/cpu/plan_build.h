/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_PLAN_BUILD_H
#define DPARTUI_ENGINE_DEVICE_CPU_PLAN_BUILD_H

#include "engine/device/cpu/plan.h"

/* Fill in the steps and the memory of a plan whose device, replica and request are set. What was
 * made is the plan's, on failure too. */
bool plan_build(struct plan *plan, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_LAYERS_SGD_H
#define DPARTUI_ENGINE_DEVICE_CPU_LAYERS_SGD_H

#include "engine/device/device.h"

bool cpu_sgd(struct device *device, struct replica *replica, size_t begin, size_t end,
             const struct optimizer_step *step, struct error *err);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_REPLICA_SGD_H
#define DPARTUI_ENGINE_DEVICE_CUDA_REPLICA_SGD_H

#include "engine/device/cuda/runtime/device.h"

/* For struct backend. */
bool cuda_sgd(struct device *device, struct replica *replica, size_t begin, size_t end,
              const struct optimizer_step *step, struct error *err);

#endif

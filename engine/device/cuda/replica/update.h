/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/* For struct backend. */
bool cuda_update(struct device *device, struct replica *replica, size_t begin, size_t end,
                 const struct optimizer_step *step, struct error *err);
bool cuda_gradient_squares(struct device *device, const struct replica *replica, size_t begin,
                           size_t end, double *sum, struct error *err);
bool cuda_swap(struct device *device, struct replica *replica, int state, struct error *err);

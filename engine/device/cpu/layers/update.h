/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* For struct backend. */
bool cpu_update(struct device *device, struct replica *replica, size_t begin, size_t end,
                const struct optimizer_step *step, struct error *err);
double cpu_gradient_squares(const struct replica *replica, size_t begin, size_t end);
bool cpu_swap(struct device *device, struct replica *replica, int state, struct error *err);

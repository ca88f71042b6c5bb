/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* For struct backend. */
bool cpu_update(struct device *device, struct replica *replica, size_t begin, size_t end,
                const struct optimizer_step *step, struct error *err);
bool cpu_gradient_squares(struct device *device, const struct replica *replica, size_t begin,
                          size_t end, double *sum, struct error *err);
bool cpu_swap(struct device *device, struct replica *replica, int state, struct error *err);

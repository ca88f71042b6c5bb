/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/* The GPUs of this machine, for struct backend: which there are, opening and closing them. */
bool cuda_enumerate(struct device_info *list, int capacity, int *count, char *why, size_t why_size,
                    struct error *err);
bool cuda_open(const struct device_options *options, struct device **out, struct error *err);
void cuda_close(struct device *device);

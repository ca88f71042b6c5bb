/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* What is known of GPUs and of the libraries they are used with, for struct backend. */
bool cuda_facts(struct device *device, struct device_facts *out, struct error *err);
/* "CUDA 13.0 (driver 13.0), cuDNN 9.19.0, NCCL 2.28.9"; what is not there is left out. */
void cuda_libraries(char *buffer, size_t size);

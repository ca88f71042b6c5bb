/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_BACKEND_H
#define DPARTUI_ENGINE_DEVICE_CUDA_BACKEND_H

#include "engine/device/device.h"

/* GPUs, on CUDA, cuDNN and cuBLASLt. Only in builds that found them (HAVE_CUDA_TOOLKIT). */
extern const struct backend cuda_backend;

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"

/* GPUs, on CUDA, cuDNN and cuBLASLt. Only in builds that found them (HAVE_CUDA_TOOLKIT). */
extern const struct backend cuda_backend;

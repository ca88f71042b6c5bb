/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_COLLECTIVE_NCCL_H
#define DPARTUI_ENGINE_DEVICE_CUDA_COLLECTIVE_NCCL_H

#include "engine/device/collective.h"

extern const struct collective nccl_collective; /* by NCCL, during the backward pass */

#endif

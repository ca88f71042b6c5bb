/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_COLLECTIVE_PEER_H
#define DPARTUI_ENGINE_DEVICE_CUDA_COLLECTIVE_PEER_H

#include "engine/device/collective.h"

/* By kernels of our own that read the other GPUs' memory; also for one GPU that is named twice. */
extern const struct collective peer_collective;

#endif

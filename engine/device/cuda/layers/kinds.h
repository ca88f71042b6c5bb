/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_LAYERS_KINDS_H
#define DPARTUI_ENGINE_DEVICE_CUDA_LAYERS_KINDS_H

#include "engine/device/plan/builder.h"

/* A layer for each operation, in the files of this folder. */
#define CUDA_LAYER(kind, word) extern const struct layer_kind cuda_layer_##word;
NET_OPERATIONS(CUDA_LAYER)
#undef CUDA_LAYER

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/* A layer for each operation, in the files of this folder. */
#define CUDA_LAYER(kind, word) extern const struct layer_kind cuda_layer_##word;
NET_OPERATIONS(CUDA_LAYER)
NET_SLICE_OPERATIONS(CUDA_LAYER)
#undef CUDA_LAYER

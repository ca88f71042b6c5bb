/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_LAYERS_INPUT_H
#define DPARTUI_ENGINE_DEVICE_CUDA_LAYERS_INPUT_H

#include "engine/device/plan/builder.h"

/* The step that brings the rows of a batch to the network's first value. */
bool cuda_build_input(struct builder *b, struct error *err);

#endif

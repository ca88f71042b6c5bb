/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_LAYERS_LOSS_H
#define DPARTUI_ENGINE_DEVICE_CUDA_LAYERS_LOSS_H

#include "engine/device/plan/builder.h"

/* The step that computes the loss from the network's last value, and its gradient. */
bool cuda_build_loss(struct builder *b, struct error *err);

#endif

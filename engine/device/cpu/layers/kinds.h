/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_LAYERS_KINDS_H
#define DPARTUI_ENGINE_DEVICE_CPU_LAYERS_KINDS_H

#include "engine/device/plan/builder.h"

/* The kinds of layers in this folder, each in the file of its name. */
extern const struct layer_kind layer_conv, layer_activation, layer_pool, layer_global_pool,
    layer_linear, layer_flatten, layer_add, layer_dropout;

#endif

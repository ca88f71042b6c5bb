/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CORE_KINDS_H
#define DPARTUI_ENGINE_DEVICE_CPU_CORE_KINDS_H

#include "engine/device/plan/builder.h"

/* A layer for each operation, in the files of conv/, norm/ and layers/. */
#define CPU_LAYER(kind, word) extern const struct layer_kind layer_##word;
NET_OPERATIONS(CPU_LAYER)
#undef CPU_LAYER

#endif

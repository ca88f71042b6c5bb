/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/* A layer for each operation, in the files of layers/ and norm/: layer_conv in layers/conv.c. */
#define CPU_LAYER(kind, word) extern const struct layer_kind layer_##word;
NET_OPERATIONS(CPU_LAYER)
NET_SLICE_OPERATIONS(CPU_LAYER)
#undef CPU_LAYER

static inline const struct layer_kind *cpu_layer_of(enum net_kind kind)
{
#define LAYER(kind, word) [kind] = &layer_##word,
    static const struct layer_kind *const layers[] = {NET_OPERATIONS(LAYER)
                                                          NET_SLICE_OPERATIONS(LAYER)};
#undef LAYER
    return layers[kind];
}

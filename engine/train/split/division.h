/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/slice.h"
#include "spec/spec.h"

/* What slices a strategy divides a network into that does so inside its layers. Pure. */
static inline enum net_division strategy_division(enum strategy strategy)
{
    return strategy == STRATEGY_MIXED ? NET_DIVIDE_LINEAR : NET_DIVIDE_LAYERS;
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/autotune/algorithms.h"

/* What an earlier process measured to be the fastest: an index into `list`; -1: not known. */
int conv_cache_find(const struct conv_shape *shape, enum conv_direction direction, int threads,
                    const struct conv_algorithm *list, int count);

/* Store it for later processes. A failure is ignored: the next process measures for itself. */
void conv_cache_put(const struct conv_shape *shape, enum conv_direction direction, int threads,
                    struct conv_algorithm algorithm, double seconds);

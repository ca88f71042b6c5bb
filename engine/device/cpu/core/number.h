/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/device/bf16.h"

/*
 * Numbers of values and of their gradients, which are bf16 or f32. Where each counts, loops are
 * functions of a constant `bf16`, which are inlined for both, so that nothing is asked for each
 * number. Loops over vectors have simd/stored.h.
 */
#define INLINE static inline __attribute__((always_inline))

/* For fewer numbers waking the team costs more than the loop. */
#define PARALLEL_FROM 16384

static inline size_t number_size(bool bf16)
{
    return bf16 ? sizeof(uint16_t) : sizeof(float);
}

/* Where number `index` is. */
static inline void *number_at(void *numbers, size_t index, bool bf16)
{
    return (char *)numbers + index * number_size(bf16);
}

static inline const void *number_in(const void *numbers, size_t index, bool bf16)
{
    return (const char *)numbers + index * number_size(bf16);
}

INLINE float number_get(const void *numbers, size_t index, bool bf16)
{
    return bf16 ? bf16_widen(((const uint16_t *)numbers)[index]) : ((const float *)numbers)[index];
}

INLINE void number_put(void *numbers, size_t index, float x, bool bf16)
{
    if (bf16)
        ((uint16_t *)numbers)[index] = bf16_round(x);
    else
        ((float *)numbers)[index] = x;
}

/* Whole buffers, on the calling thread's team: bf16 to f32, f32 to bf16, and f32 to what is left of
 * it in bf16. */
typedef void number_conversion(const void *from, void *to, size_t count);
number_conversion numbers_widen, numbers_narrow, numbers_round;

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <string.h>

#include "engine/device/host_device.h"

/* bf16 is the upper half of an f32. */
static inline HOST_DEVICE float bf16_widen(uint16_t bits)
{
    const uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

/* To nearest, ties to even; every NaN becomes 0x7fff, as the instruction of a GPU makes it. */
static inline HOST_DEVICE uint16_t bf16_round(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

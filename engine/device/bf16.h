/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "engine/device/host_device.h"

/* Not by memcpy: sanitizers would take its addresses for every number. */
union f32_bits {
    float value;
    uint32_t bits;
};

/* bf16 is the upper half of an f32. */
static inline HOST_DEVICE float bf16_widen(uint16_t bits)
{
    union f32_bits x;
    x.bits = (uint32_t)bits << 16;
    return x.value;
}

/* To nearest, ties to even; every NaN becomes 0x7fff, as the instruction of a GPU makes it. */
static inline HOST_DEVICE uint16_t bf16_round(float x)
{
    union f32_bits number;
    number.value = x;
    if ((number.bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fff;
    return (uint16_t)((number.bits + 0x7fffu + (number.bits >> 16 & 1)) >> 16);
}

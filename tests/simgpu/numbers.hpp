/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_NUMBERS_HPP
#define DPARTUI_TESTS_SIMGPU_NUMBERS_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/unchecked.h"

/* Number formats of a GPU, to nearest with ties to even. */
namespace simgpu
{

/* Drop the lowest `bits` of an f32's mantissa. */
UNCHECKED inline float round_mantissa(float x, unsigned bits)
{
    if (!std::isfinite(x))
        return x;
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    word += (1u << (bits - 1)) - 1 + (word >> bits & 1);
    word &= ~((1u << bits) - 1);
    memcpy(&x, &word, sizeof x);
    return x;
}

/* As tensor cores take f32 factors: 10 bits of mantissa. */
UNCHECKED inline float round_tf32(float x)
{
    return round_mantissa(x, 13);
}

UNCHECKED inline float from_bf16(uint16_t bits)
{
    uint32_t word = static_cast<uint32_t>(bits) << 16;
    float x;
    memcpy(&x, &word, sizeof x);
    return x;
}

UNCHECKED inline uint16_t to_bf16(float x)
{
    x = round_mantissa(x, 16);
    uint32_t word;
    memcpy(&word, &x, sizeof word);
    return std::isnan(x) ? 0x7fff : static_cast<uint16_t>(word >> 16);
}

} // namespace simgpu

#endif

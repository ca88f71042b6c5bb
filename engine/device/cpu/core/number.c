/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/number.h"

void numbers_widen(const void *from, void *to, size_t count)
{
    const uint16_t *numbers = from;
    float *wide = to;
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++)
        wide[i] = bf16_widen(numbers[i]);
}

void numbers_narrow(const void *from, void *to, size_t count)
{
    const float *wide = from;
    uint16_t *numbers = to;
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++)
        numbers[i] = bf16_round(wide[i]);
}

void numbers_round(const void *from, void *to, size_t count)
{
    const float *exact = from;
    float *rounded = to;
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++)
        rounded[i] = bf16_widen(bf16_round(exact[i]));
}

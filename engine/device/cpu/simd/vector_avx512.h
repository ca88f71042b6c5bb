/* SPDX-License-Identifier: MIT */
#pragma once

/* The vectors of simd/vector.h by AVX-512. */

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx512f")))

#define LANES 16
typedef __m512 vector;
#define MM(name) _mm512_##name
#include "engine/device/cpu/simd/vector.h"

typedef __mmask16 v_mask; /* all lanes or none */

static inline TARGET v_mask v_mask_of(bool all)
{
    return all ? 0xffff : 0;
}

/* Zeros without the mask, and then no memory is touched. */
static inline TARGET vector v_load_masked(const float *p, v_mask mask)
{
    return _mm512_maskz_loadu_ps(mask, p);
}

static inline TARGET uint16_t v_positive(vector v)
{
    return _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_GT_OQ);
}

static inline TARGET vector v_keep(uint16_t word, vector v)
{
    return _mm512_maskz_mov_ps(word, v);
}

static inline TARGET vector v_keep_positive(vector test, vector v)
{
    return _mm512_maskz_mov_ps(v_positive(test), v);
}

/* a[0], b[0], a[1], b[1], ... of the lower halves. */
static inline TARGET vector v_weave_low(vector a, vector b)
{
    const __m512i order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(a, order, b);
}

/* The same of the upper halves. */
static inline TARGET vector v_weave_high(vector a, vector b)
{
    const __m512i order =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_ps(a, order, b);
}

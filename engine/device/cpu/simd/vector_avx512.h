/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_SIMD_VECTOR_AVX512_H
#define DPARTUI_ENGINE_DEVICE_CPU_SIMD_VECTOR_AVX512_H

/* Vectors for loops that are written once for all instruction sets, by AVX-512. One of these per
 * file. */

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx512f")))

#define LANES 16
typedef __m512 vector;

static inline TARGET vector v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

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

static inline TARGET void v_store(float *p, vector v)
{
    _mm512_storeu_ps(p, v);
}

static inline TARGET void v_stream(float *p, vector v)
{
    _mm512_stream_ps(p, v);
}

static inline TARGET void v_put(float *p, vector v, bool stream)
{
    if (stream)
        v_stream(p, v);
    else
        v_store(p, v);
}

static inline TARGET vector v_zero(void)
{
    return _mm512_setzero_ps();
}

static inline TARGET vector v_fma(vector a, vector b, vector c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* A NaN in `a` stays one, as in PyTorch: max returns its second operand then. */
static inline TARGET vector v_max(vector a, vector b)
{
    return _mm512_max_ps(b, a);
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

static inline TARGET void v_fence(void)
{
    _mm_sfence();
}

static inline TARGET vector v_all(float value)
{
    return _mm512_set1_ps(value);
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

#endif

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_SIMD_VECTOR_AVX2_H
#define DPARTUI_ENGINE_DEVICE_CPU_SIMD_VECTOR_AVX2_H

/* Vectors for loops that are written once for all instruction sets, by AVX2. One of these per file.
 */

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx2,fma")))

#define LANES 8
typedef __m256 vector;

static inline TARGET vector v_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

typedef __m256i v_mask; /* all lanes or none */

static inline TARGET v_mask v_mask_of(bool all)
{
    return _mm256_set1_epi32(all ? -1 : 0);
}

/* Zeros without the mask, and then no memory is touched. */
static inline TARGET vector v_load_masked(const float *p, v_mask mask)
{
    return _mm256_maskload_ps(p, mask);
}

static inline TARGET void v_store(float *p, vector v)
{
    _mm256_storeu_ps(p, v);
}

static inline TARGET void v_stream(float *p, vector v)
{
    _mm256_stream_ps(p, v);
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
    return _mm256_setzero_ps();
}

static inline TARGET vector v_fma(vector a, vector b, vector c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* A NaN in `a` stays one, as in PyTorch: max returns its second operand then. */
static inline TARGET vector v_max(vector a, vector b)
{
    return _mm256_max_ps(b, a);
}

static inline TARGET uint16_t v_positive(vector v)
{
    return (uint16_t)_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GT_OQ));
}

static inline TARGET vector v_keep(uint16_t word, vector v)
{
    const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i set = _mm256_and_si256(_mm256_set1_epi32(word), bits);
    return _mm256_and_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(set, bits)), v);
}

static inline TARGET vector v_keep_positive(vector test, vector v)
{
    return _mm256_and_ps(_mm256_cmp_ps(test, _mm256_setzero_ps(), _CMP_GT_OQ), v);
}

static inline TARGET void v_fence(void)
{
    _mm_sfence();
}

static inline TARGET vector v_all(float value)
{
    return _mm256_set1_ps(value);
}

/* a[0], b[0], a[1], b[1], ... of the lower halves. */
static inline TARGET vector v_weave_low(vector a, vector b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x20);
}

/* The same of the upper halves. */
static inline TARGET vector v_weave_high(vector a, vector b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b), 0x31);
}

#endif

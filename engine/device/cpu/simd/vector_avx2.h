/* SPDX-License-Identifier: MIT */
#pragma once

/* The vectors of simd/vector.h by AVX2. */

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma")))

#define LANES 8
typedef __m256 vector;
#define MM(name) _mm256_##name

typedef __m256i v_words;
typedef __m128i v_half;
#define HALF(name) _mm_##name##_si128

static inline TARGET v_half v_lower_halves(v_words words)
{
    return _mm_packus_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

static inline TARGET v_words v_merge_halves(v_words lower, v_words upper)
{
    return _mm256_blend_epi16(lower, upper, 0xaa);
}

#include "engine/device/cpu/simd/vector.h"

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

static inline TARGET vector v_load_masked_bf16(const uint16_t *p, v_mask mask)
{
    const v_half half = _mm_maskload_epi32((const void *)p, _mm256_castsi256_si128(mask));
    return (vector)_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16);
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

#ifdef V_DOTS

/* To nearest, held to 16 bits. */
static inline TARGET void v_store_16(int16_t *p, vector v)
{
    const __m256i words = _mm256_cvtps_epi32(v);
    _mm_storeu_si128((__m128i *)p, _mm_packs_epi32(_mm256_castsi256_si128(words),
                                                   _mm256_extracti128_si256(words, 1)));
}

/* sum + the products of both halves of each word. */
static inline TARGET v_words v_dot(v_words sum, v_words a, v_words b)
{
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}

/* The larger of halves of words, of b without their signs. */
static inline TARGET v_words v_largest_16(v_words a, v_words b)
{
    return _mm256_max_epu16(a, b & _mm256_set1_epi16(0x7fff));
}

/* The larger of words, of v's bits without its sign. */
static inline TARGET v_words v_largest_32(v_words a, vector v)
{
    return _mm256_max_epi32(a, (v_words)v & _mm256_set1_epi32(0x7fffffff));
}

#endif

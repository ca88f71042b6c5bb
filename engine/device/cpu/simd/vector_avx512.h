/* SPDX-License-Identifier: MIT */
#pragma once

/* The vectors of simd/vector.h by AVX-512. */

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef V_DOTS
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))
#else
#define TARGET __attribute__((target("avx512f")))
#endif

#define LANES 16
typedef __m512 vector;
#define MM(name) _mm512_##name

typedef __m512i v_words;
typedef __m256i v_half;
#define HALF(name) _mm256_##name##_si256

static inline TARGET v_half v_lower_halves(v_words words)
{
    return _mm512_cvtepi32_epi16(words);
}

#ifdef V_DOTS
#define V_ROUNDS

static inline TARGET v_words v_merge_halves(v_words lower, v_words upper)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, lower, upper);
}

/* bf16_round, but denormal numbers become zero, and a NaN keeps its sign and upper bits. */
static inline TARGET v_half v_round(vector v)
{
    v_half halves;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(halves) : "v"(v));
    return halves;
}
#endif

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

/* Half as many words of 32 bits. */
static inline TARGET vector v_load_masked_bf16(const uint16_t *p, v_mask mask)
{
    const __m512i half = _mm512_maskz_loadu_epi32(mask & 0xff, p);
    const __m512i wide = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(half));
    return (vector)_mm512_slli_epi32(wide, 16);
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

#ifdef V_DOTS

/* To nearest, held to 16 bits. */
static inline TARGET void v_store_16(int16_t *p, vector v)
{
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(v)));
}

/* sum + the products of both halves of each word. */
static inline TARGET v_words v_dot(v_words sum, v_words a, v_words b)
{
    /* Not by its intrinsic: GCC 12 copies the sums of a loop from register to register. */
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}

/* The larger of halves of words, of b without their signs. */
static inline TARGET v_words v_largest_16(v_words a, v_words b)
{
    return _mm512_max_epu16(a, b & _mm512_set1_epi16(0x7fff));
}

/* The larger of words, of v's bits without its sign. */
static inline TARGET v_words v_largest_32(v_words a, vector v)
{
    return _mm512_max_epi32(a, (v_words)v & _mm512_set1_epi32(0x7fffffff));
}

#endif

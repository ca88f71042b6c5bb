/* SPDX-License-Identifier: MIT */
/* The loops of lanes.h by AVX2. */
#include "engine/device/cpu/lanes/lanes.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

#define CONV_OUTPUTS    6
#define PRODUCT_VECTORS 2
#define LINEAR_OUTPUTS  8
#define OUTER_OUTPUTS   2

static inline TARGET vector v_held(vector v)
{
    __asm__("" : "+x"(v));
    return v;
}

static inline TARGET vector v_bytes(const uint8_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

static inline TARGET vector v_most(vector a, vector b)
{
    return _mm256_blendv_ps(v_max(a, b), b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
}

static inline TARGET vector v_keep_equal(vector a, vector b, vector v)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ), v);
}

static inline TARGET vector v_keep_unequal(vector a, vector b, vector v)
{
    return _mm256_and_ps(_mm256_cmp_ps(a, b, _CMP_NEQ_UQ), v);
}

static inline TARGET vector v_below_zero(vector v)
{
    return _mm256_or_ps(v, _mm256_set1_ps(-0.0F));
}

static inline TARGET vector v_select(vector test, vector a, vector b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(test, _mm256_setzero_ps(), _CMP_GE_OQ));
}

/* In two steps, so that neither factor is below the least normal number. */
static inline TARGET vector v_scale(vector v, vector n)
{
    const __m256i bias = _mm256_set1_epi32(127);
    __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);
    __m256i first = _mm256_add_epi32(half, bias);
    __m256i second = _mm256_add_epi32(_mm256_sub_epi32(whole, half), bias);
    v = v * _mm256_castsi256_ps(_mm256_slli_epi32(first, 23));
    return v * _mm256_castsi256_ps(_mm256_slli_epi32(second, 23));
}

static inline TARGET vector v_reciprocal(vector v)
{
    return _mm256_rcp_ps(v);
}

#include "engine/device/cpu/lanes/kernels.h"

const struct lanes_kernels lanes_avx2 = LANES_KERNELS("AVX2");

#endif

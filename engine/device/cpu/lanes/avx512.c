/* SPDX-License-Identifier: MIT */
/* The loops of lanes.h by AVX-512. */
#include "engine/device/cpu/lanes/lanes.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#define CONV_OUTPUTS    6
#define PRODUCT_VECTORS 4
#define LINEAR_OUTPUTS  16
#define OUTER_OUTPUTS   4

static inline TARGET vector v_held(vector v)
{
    __asm__("" : "+v"(v));
    return v;
}

static inline TARGET vector v_bytes(const uint8_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

static inline TARGET vector v_most(vector a, vector b)
{
    return _mm512_mask_mov_ps(v_max(a, b), _mm512_cmp_ps_mask(b, b, _CMP_UNORD_Q), b);
}

static inline TARGET vector v_keep_equal(vector a, vector b, vector v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ), v);
}

static inline TARGET vector v_keep_unequal(vector a, vector b, vector v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ), v);
}

static inline TARGET vector v_below_zero(vector v)
{
    const __m512i sign = _mm512_set1_epi32(INT32_MIN);
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(v), sign));
}

static inline TARGET vector v_select(vector test, vector a, vector b)
{
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(test, _mm512_setzero_ps(), _CMP_GE_OQ), a);
}

static inline TARGET vector v_scale(vector v, vector n)
{
    return _mm512_scalef_ps(v, n);
}

static inline TARGET vector v_reciprocal(vector v)
{
    return _mm512_rcp14_ps(v);
}

#include "engine/device/cpu/lanes/kernels.h"

const struct lanes_kernels lanes_avx512 = LANES_KERNELS("AVX-512");

#endif

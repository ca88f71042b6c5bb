/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f")))

#define LANES 16
typedef __m512 vector;

static inline TARGET vector v_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline TARGET void v_store(float *p, vector v)
{
    _mm512_storeu_ps(p, v);
}

static inline TARGET void v_stream(float *p, vector v)
{
    _mm512_stream_ps(p, v);
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

#include "engine/device/cpu/kernels_blocked.h"

const struct kernels kernels_avx512 = {.name = "AVX-512",
                                       .block = LANES,
                                       .norm_sums = norm_sums,
                                       .norm_forward = norm_forward,
                                       .norm_backward_sums = norm_backward_sums,
                                       .norm_backward_data = norm_backward_data};

#endif

/* SPDX-License-Identifier: MIT */
/* The loops of lanes.h in plain C, and which loops a processor can run. */
#include "engine/device/cpu/lanes/lanes.h"

#include <string.h>

#include "engine/device/cpu/simd/processor.h"

/* For any processor: the compiler makes of vectors of four what it can. */
#define TARGET
#define LANES           4
#define CONV_OUTPUTS    6
#define PRODUCT_VECTORS 2
#define LINEAR_OUTPUTS  8
#define OUTER_OUTPUTS   2

typedef float vector __attribute__((vector_size(4 * sizeof(float))));
typedef int32_t integers __attribute__((vector_size(4 * sizeof(int32_t))));

static inline vector v_load(const float *p)
{
    vector v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void v_store(float *p, vector v)
{
    memcpy(p, &v, sizeof v);
}

static inline vector v_all(float number)
{
    return (vector){number, number, number, number};
}

static inline vector v_fma(vector a, vector b, vector c)
{
    return a * b + c;
}

static inline vector v_held(vector v)
{
    return v;
}

static inline vector v_bytes(const uint8_t *p)
{
    return (vector){(float)p[0], (float)p[1], (float)p[2], (float)p[3]};
}

static inline vector pick(integers which, vector a, vector b)
{
    return (vector)(((integers)a & which) | ((integers)b & ~which));
}

static inline vector v_max(vector a, vector b)
{
    return pick(a < b, b, a);
}

static inline vector v_most(vector a, vector b)
{
    return pick((a < b) | (b != b), b, a);
}

static inline vector v_keep_positive(vector test, vector v)
{
    return (vector)((integers)v & (test > 0));
}

static inline vector v_keep_equal(vector a, vector b, vector v)
{
    return (vector)((integers)v & (a == b));
}

static inline vector v_keep_unequal(vector a, vector b, vector v)
{
    return (vector)((integers)v & (a != b));
}

static inline vector v_below_zero(vector v)
{
    return (vector)((integers)v | INT32_MIN);
}

static inline vector v_select(vector test, vector a, vector b)
{
    return pick(test >= 0, a, b);
}

/* In two steps, so that neither factor is below the least normal number. */
static inline vector v_scale(vector v, vector n)
{
    const integers bias = {127, 127, 127, 127};
    integers whole, half;
    for (int i = 0; i < LANES; i++)
        whole[i] = n[i] >= -151 ? (int32_t)n[i] : 0; /* a NaN is none */
    half = whole >> 1;
    return v * (vector)((half + bias) << 23) * (vector)((whole - half + bias) << 23);
}

static inline vector v_reciprocal(vector v)
{
    return 1 / v;
}

static inline vector v_weave_low(vector a, vector b)
{
    return (vector){a[0], b[0], a[1], b[1]};
}

static inline vector v_weave_high(vector a, vector b)
{
    return (vector){a[2], b[2], a[3], b[3]};
}

#include "engine/device/cpu/lanes/kernels.h"

const struct lanes_kernels lanes_plain = LANES_KERNELS("plain C");

const struct lanes_kernels *lanes_find(int block)
{
#if defined(__x86_64__)
    if (processor_has_vectors(block))
        return block == lanes_avx512.lanes ? &lanes_avx512 : &lanes_avx2;
#endif
    return block == 1 ? &lanes_plain : NULL;
}

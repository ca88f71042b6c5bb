/* SPDX-License-Identifier: MIT */

/*
 * Vectors for loops that are written once for all instruction sets: what AVX2 and AVX-512 have in
 * common. Part of vector_avx2.h and vector_avx512.h, one of which a file includes. They define
 * TARGET, LANES, `vector` and MM(name), which is the name of an intrinsic of the set.
 */

static inline TARGET vector v_load(const float *p)
{
    return MM(loadu_ps)(p);
}

static inline TARGET void v_store(float *p, vector v)
{
    MM(storeu_ps)(p, v);
}

static inline TARGET void v_stream(float *p, vector v)
{
    MM(stream_ps)(p, v);
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
    return MM(setzero_ps)();
}

static inline TARGET vector v_fma(vector a, vector b, vector c)
{
    return MM(fmadd_ps)(a, b, c);
}

/* A NaN in `a` stays one, as in PyTorch: max returns its second operand then. */
static inline TARGET vector v_max(vector a, vector b)
{
    return MM(max_ps)(b, a);
}

static inline TARGET void v_fence(void)
{
    _mm_sfence();
}

static inline TARGET vector v_all(float value)
{
    return MM(set1_ps)(value);
}

/* SPDX-License-Identifier: MIT */

/*
 * Vectors for loops that are written once for all instruction sets: what AVX2 and AVX-512 have in
 * common. Part of vector_avx2.h and vector_avx512.h, one of which a file includes. They define
 * TARGET, LANES, `vector` and MM(name), which is the name of an intrinsic of the set; for bf16
 * v_half, LANES of them, HALF(name), an intrinsic for it, v_words, LANES words of 32 bits, and
 * v_lower_halves(words). With V_DOTS there are those of numbers of 16 bits as well, for processors
 * that have them (processor_has_dots), and v_merge_halves(lower, upper), which takes the lower
 * halves of one and the upper halves of the other; V_ROUNDS says that v_round is then the
 * processor's own.
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

/* The bf16 of each lane in the lower half of a word: bf16_round of engine/device/bf16.h. */
static inline TARGET v_words v_round_words(vector v)
{
    typedef uint32_t words __attribute__((vector_size(sizeof(vector))));
    const words bits = (words)v, nan = (words)(v != v);
    return (v_words)((((bits + 0x7fff + (bits >> 16 & 1)) >> 16) & ~nan) | (nan & 0x7fff));
}

static inline TARGET vector v_load_bf16(const uint16_t *p)
{
    return (vector)MM(slli_epi32)(MM(cvtepu16_epi32)(HALF(loadu)((const v_half *)p)), 16);
}

#ifdef V_ROUNDS

static inline TARGET vector v_rounded_bf16(vector v)
{
    return (vector)MM(slli_epi32)(MM(cvtepu16_epi32)(v_round(v)), 16);
}

#else

static inline TARGET v_half v_round(vector v)
{
    return v_lower_halves(v_round_words(v));
}

static inline TARGET vector v_rounded_bf16(vector v)
{
    return (vector)MM(slli_epi32)(v_round_words(v), 16);
}

#endif

static inline TARGET void v_store_bf16(uint16_t *p, vector v)
{
    HALF(storeu)((v_half *)p, v_round(v));
}

static inline TARGET void v_stream_bf16(uint16_t *p, vector v)
{
    HALF(stream)((v_half *)p, v_round(v));
}

static inline TARGET v_words v_all_words(int32_t value)
{
    return MM(set1_epi32)(value);
}

/* Two numbers of 16 bits, the first in the lower half of each word. */
static inline TARGET v_words v_all_pairs(const int32_t *p)
{
    int32_t both;
    memcpy(&both, p, sizeof both);
    return v_all_words(both);
}

static inline TARGET v_words v_load_words(const void *p)
{
    v_words words;
    memcpy(&words, p, sizeof words);
    return words;
}

static inline TARGET void v_store_words(void *p, v_words words)
{
    memcpy(p, &words, sizeof words);
}

static inline TARGET vector v_of_words(v_words words)
{
    return MM(cvtepi32_ps)(words);
}

#ifdef V_DOTS
/* `low`, rounded to nearest, in the lower halves, and `high` in the upper ones; both have 16 bits.
 */
static inline TARGET v_words v_pairs(vector low, vector high)
{
    return v_merge_halves(MM(cvtps_epi32)(low), MM(slli_epi32)(MM(cvtps_epi32)(high), 16));
}
#endif

static inline TARGET vector v_abs(vector v)
{
    return (vector)((v_words)v & v_all_words(0x7fffffff));
}

static inline TARGET vector v_sqrt(vector v)
{
    return MM(sqrt_ps)(v);
}

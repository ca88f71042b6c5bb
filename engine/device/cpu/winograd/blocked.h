/* SPDX-License-Identifier: MIT */

/*
 * The weights and the products of winograd/kernels.h for blocks of one vector, and the table with
 * them. Included by a file that has chosen its instruction set (vector_avx512.h, vector_avx2.h),
 * the name of the table, WINOGRAD_KERNELS, and those of the tables of transforms.h for values of
 * f32 and of bf16, WINOGRAD_TRANSFORMS and WINOGRAD_TRANSFORMS_BF16.
 */

#include "engine/device/cpu/simd/transpose.h"
#include "engine/device/cpu/winograd/maps.h"

/* X for each number of tiles up to GROUP. */
#if LANES == 16
#define EACH_TILES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#else
#define EACH_TILES(X) X(1) X(2) X(3) X(4) X(5) X(6)
#endif

#define LINE   16 /* floats of a cache line */
#define TAPS   9
#define SQUARE ((ptrdiff_t)LANES * LANES)

/* The weights [tap][in][out] between two blocks of channels; [tap][out][in] where they have to be
 * turned. */
static const float *weights_between(const struct winograd *job, int in_block, int out_block)
{
    const ptrdiff_t block = job->turned ? (ptrdiff_t)in_block * (job->out / LANES) + out_block
                                        : (ptrdiff_t)out_block * (job->in / LANES) + in_block;
    return job->weights + block * TAPS * SQUARE;
}

static TARGET void weights(const struct winograd *job, int in_block, int out_block, int vectors,
                           float *u, size_t stride)
{
    float turned[2 * TAPS * LANES * LANES] __attribute__((aligned(64)));
    const float *from[2], *next[2];
    for (int g = 0; g < vectors; g++) {
        from[g] = weights_between(job, in_block, out_block + g);
        /* Nine taps at a time are no order that the processor sees by itself. */
        next[g] = weights_between(job, in_block + 1, out_block + g);
        float *to = turned + g * TAPS * SQUARE;
        for (int tap = 0; tap < TAPS && job->turned; tap++)
            transpose_square(from[g] + tap * SQUARE, to + (TAPS - 1 - tap) * SQUARE);
        from[g] = job->turned ? to : from[g];
    }
    /* Vectors that share a cache line of U one after the other. */
    for (int k = 0; k < LANES; k++)
        for (int g = 0; g < vectors; g++, u += LANES) {
            vector tap[TAPS];
            if (k * LANES % LINE == 0)
#pragma GCC unroll 9
                for (int i = 0; i < TAPS; i++)
                    __builtin_prefetch(next[g] + i * SQUARE + (ptrdiff_t)k * LANES);
#pragma GCC unroll 9
            for (int i = 0; i < TAPS; i++)
                tap[i] = v_load(from[g] + i * SQUARE + (ptrdiff_t)k * LANES) * v_all(1.0F / 36);
            tile_weights(tap, u, (ptrdiff_t)stride);
        }
}

/* Sums stay in registers for all channels; what M holds is added last, which rounds less than sums
 * that grow from it. `tiles` and `vectors` are constants here. */
INLINE void multiply_group(const float *v, const float *u, int in, bool add, const float *next,
                           float *m, const int tiles, const int vectors)
{
    vector sum[GROUP][2];
#pragma GCC unroll 16
    for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
        for (int g = 0; g < vectors; g++)
            sum[t][g] = v_zero();
    for (int c = 0; c < in; c += LANES, v += GROUP * LANES, next += GROUP * LANES) {
#pragma GCC unroll 2
        for (int k = 0; k < LANES; k++, u += (ptrdiff_t)vectors * LANES) {
            vector w[2];
#pragma GCC unroll 2
            for (int g = 0; g < vectors; g++)
                w[g] = v_load(u + (ptrdiff_t)g * LANES);
            __builtin_prefetch(next + (ptrdiff_t)k * GROUP);
#pragma GCC unroll 16
            for (int t = 0; t < tiles; t++) {
                const vector value = v_all(v[t * LANES + k]);
#pragma GCC unroll 2
                for (int g = 0; g < vectors; g++)
                    sum[t][g] = v_fma(value, w[g], sum[t][g]);
            }
        }
    }
#pragma GCC unroll 16
    for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
        for (int g = 0; g < vectors; g++) {
            float *to = m + (ptrdiff_t)(t * vectors + g) * LANES;
            if (add)
                sum[t][g] += v_load(to);
            v_store(to, sum[t][g]);
        }
}

typedef void multiply_function(const float *v, const float *u, int in, bool add, const float *next,
                               float *m);

#define DEFINE(T)                                                                                  \
    static TARGET void multiply_##T##_1(const float *v, const float *u, int in, bool add,          \
                                        const float *next, float *m)                               \
    {                                                                                              \
        multiply_group(v, u, in, add, next, m, T, 1);                                              \
    }                                                                                              \
    static TARGET void multiply_##T##_2(const float *v, const float *u, int in, bool add,          \
                                        const float *next, float *m)                               \
    {                                                                                              \
        multiply_group(v, u, in, add, next, m, T, 2);                                              \
    }
#define BOTH(T) {multiply_##T##_1, multiply_##T##_2},

EACH_TILES(DEFINE)
static multiply_function *const multiply_functions[GROUP][2] = {EACH_TILES(BOTH)};

static TARGET void multiply(const float *v, const float *u, int in, int tiles, int vectors,
                            bool add, const float *next, float *m)
{
    multiply_functions[tiles - 1][vectors - 1](v, u, in, add, next, m);
}

const struct winograd_kernels WINOGRAD_KERNELS = {
    .lanes = LANES,
    .tiles = GROUP,
    .vectors = 2,
    .weights = weights,
    .multiply = multiply,
    .transforms = {&WINOGRAD_TRANSFORMS, &WINOGRAD_TRANSFORMS_BF16}};

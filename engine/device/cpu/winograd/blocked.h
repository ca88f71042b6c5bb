/* SPDX-License-Identifier: MIT */

/*
 * The weights and the products of winograd/kernels.h in f32, for blocks of one vector. Included by
 * a file that has chosen its instruction set (vector_avx512.h, vector_avx2.h).
 */

#include "engine/device/cpu/winograd/maps.h"

#define STEP    1
#define V_BLOCK (GROUP * LANES)
#define U_STEP  (LANES * VECTORS * LANES)
#define LINE    16 /* floats of a cache line */

/* Nothing is scaled. */
#define SCALES                  0
#define FACTORS(scales, tile)   (scales)
#define SCALED(y, scales, tile) ((void)(scales), (y))
#define SCALE                   NULL

static TARGET void weights(const struct winograd *job, int in_block, int blocks, int out_block,
                           int vectors, float *u, size_t stride)
{
    float turned[VECTORS * TAPS * SQUARE] __attribute__((aligned(64)));
    const float *from[VECTORS], *next[VECTORS];
    (void)blocks;
    for (int g = 0; g < vectors; g++) {
        from[g] = taps_between(job, in_block, out_block + g, turned + g * TAPS * SQUARE);
        /* Nine taps at a time are no order that the processor sees by itself. */
        next[g] = weights_between(job, in_block + 1, out_block + g);
    }
    /* Vectors that share a cache line of U one after the other. */
    for (int k = 0; k < LANES; k++)
        for (int g = 0; g < vectors; g++, u += LANES) {
            if (k * LANES % LINE == 0)
#pragma GCC unroll 9
                for (int i = 0; i < TAPS; i++)
                    __builtin_prefetch(next[g] + i * SQUARE + (ptrdiff_t)k * LANES);
            tile_weights(from[g] + (ptrdiff_t)k * LANES, u, (ptrdiff_t)stride);
        }
}

/* Sums stay in registers for all channels; what M holds is added last, which rounds less than sums
 * that grow from it. `tiles` and `vectors` are constants here. */
INLINE void multiply_group(const struct winograd_product *p, const int tiles, const int vectors)
{
    const float *v = p->v, *u = p->u, *next = p->next;
    vector sum[GROUP][VECTORS];
#pragma GCC unroll 16
    for (int t = 0; t < tiles; t++)
#pragma GCC unroll 2
        for (int g = 0; g < vectors; g++)
            sum[t][g] = v_zero();
    for (int c = 0; c < p->in; c += LANES, v += GROUP * LANES, next += GROUP * LANES) {
#pragma GCC unroll 2
        for (int k = 0; k < LANES; k++, u += (ptrdiff_t)vectors * LANES) {
            vector w[VECTORS];
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
            float *to = p->m + (ptrdiff_t)(t * vectors + g) * LANES;
            if (p->add)
                sum[t][g] += v_load(to);
            v_store(to, sum[t][g]);
        }
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/device/cpu/conv/fusion.h"
#include "engine/device/cpu/winograd/sizes.h"

/*
 * Winograd's F(4x4,3x3) and its smaller relatives: results are cut into tiles of 4 or 3 pixels
 * along each side, each from a window of 2 more. Values and weights are transformed so that a
 * convolution of a tile becomes 36 products of single numbers (30, 25 where it is 3 wide), which,
 * over channels and tiles, are 36 products of matrices: a quarter of the multiplications. A side of
 * 7 is a tile of 4 and one of 3: 121 products, where two of 4 would take 144.
 *
 *     V[point][in][tile]   values, transformed
 *     U[point][in][out]    weights, transformed, the same for all sizes of tiles
 *     M[point][tile][out]  sums of V * U over `in`, which transformed back give the result
 *
 * The data gradient is such a convolution too, of the gradient with weights turned by 180 degrees.
 */

/* What is computed, seen as a forward convolution of 3x3 and stride 1. */
struct winograd {
    const void *x; /* rows x in x in_h x in_w, in the blocked layout; f32 or bf16, as is y */
    void *y;       /* rows x out x out_h x out_w */
    const float *weights, *bias;
    int rows;
    int in, in_h, in_w;
    int out, out_h, out_w;
    int pad_h, pad_w; /* 0..2 */
    bool turned;      /* `weights` are those of the convolution whose gradient this is */
    bool add, relu;   /* see struct conv_shape */
    const struct conv_norm *norm; /* see conv/fusion.h, for x; NULL: none */
    bool stream;                  /* store y past the caches: too large for them, not added to */
};

/* Tiles of one size next to each other along a side. */
struct winograd_run {
    int size;         /* 4 or 3 */
    int first, count; /* first: an output */
};

/* Some tiles in a row that are multiplied together. Those of a pair of runs are numbered row by row
 * of the batch, and line by line there. */
struct winograd_group {
    struct winograd_run h, w;
    long first;
    int tiles; /* 1 to winograd_kernels.tiles */
};

/* Whether the group's tiles have a point. */
static inline bool winograd_has(const struct winograd_group *group, int point)
{
    return (group->h.size == 4 || point / WINOGRAD_TILE != WINOGRAD_SKIPPED) &&
           (group->w.size == 4 || point % WINOGRAD_TILE != WINOGRAD_SKIPPED);
}

/* M of one point over `in` channels, or with `add` to what M holds. */
struct winograd_product {
    const float *v, *u;
    int in;
    bool add;
    int point;
    const float *scales; /* of the group */
    const float *next;   /* what is multiplied after it, and fetched meanwhile */
    float *m;
};

/*
 * The inner loops, a set for each instruction set and type of values; nothing is parallel here.
 * With L lanes, T = `tiles` and W vectors (1 or 2), for one group:
 *     V: [point][in / L][T][L]    U: [point][in][W * L]    M: [point][T * vectors * L], of which
 * the first are [tile][W * L]. Points of V and U are `stride` floats from each other. For values of
 * bf16 V and U are integers with scales, in as many bytes as fixed.h says; M is f32.
 */
struct winograd_kernels {
    int lanes, tiles,
        vectors;         /* the most tiles and vectors of outputs that it multiplies at once */
    int step;            /* blocks of input channels whose weights are made at a time */
    int v_block, u_step; /* floats: V of a block and U of a step at a point, */
    int scales;          /* and the scales of a group */
    /* The scales of a group, before its V is made; NULL: there are none. */
    void (*scale)(const struct winograd *job, const struct winograd_group *group, float *scales);
    /* U of the input channels of `blocks` blocks, at most a step, for the output channels of
     * `vectors` blocks. */
    void (*weights)(const struct winograd *job, int in_block, int blocks, int out_block,
                    int vectors, float *u, size_t stride);
    void (*multiply)(const struct winograd_product *product, int tiles, int vectors);
    /* Ask for the values of a group long before they are transformed: its tiles of each block of
     * input channels in turn, those with the numbers `from` to `to` of all. */
    void (*fetch)(const struct winograd *job, const struct winograd_group *group, int from, int to);
    /* The same for what results are added to, of the output channels of `vectors` blocks. */
    void (*fetch_results)(const struct winograd *job, const struct winograd_group *group,
                          int out_block, int vectors, int from, int to);
    /* V of the group for the input channels of a block. */
    void (*input)(const struct winograd *job, const struct winograd_group *group, int in_block,
                  float *v, size_t stride, const float *scales);
    /* The results of the group from M, for the output channels of `vectors` blocks. Adds to the
     * `moments` of these blocks; NULL: there are none. */
    void (*output)(const struct winograd *job, const struct winograd_group *group, int out_block,
                   int vectors, const float *m, const float *scales, struct conv_moments *moments);
};

#if defined(__x86_64__)
extern const struct winograd_kernels winograd_avx2, winograd_avx2_bf16;
extern const struct winograd_kernels winograd_avx512, winograd_avx512_bf16;
#endif

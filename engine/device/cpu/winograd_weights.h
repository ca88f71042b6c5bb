/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_WINOGRAD_WEIGHTS_H
#define DPARTUI_ENGINE_DEVICE_CPU_WINOGRAD_WEIGHTS_H

#include "engine/device/cpu/method.h"

/*
 * Winograd's gradient of 3x3 weights, for a stride of 1. With V = B^T x B of a 6x6 tile of the
 * input and D = A dy A^T of the 4x4 pixels of the output's gradient that it feeds,
 *
 *     dw[out][in] = G^T (sum over tiles of V[in] * D[out], point by point) G
 *
 * which is the transpose of F(4x4,3x3) and the algorithm F(3x3,4x4): Lavin, Gray, Fast Algorithms
 * for Convolutional Neural Networks, 2015 (arXiv:1509.09308). For each of the 36 points the sum
 * over tiles is a product of matrices, (in x tiles) by (tiles x out).
 *
 * Tiles are counted through all rows. They are transformed a chunk at a time, chunks being short
 * enough that V and D stay in a cache, long enough that the sums need not be fetched too often.
 * Channels are worked on in groups of `width`; a pair of groups, one of the input and one of the
 * output, is a square. V and D of a chunk lie as
 * [group][point][tile][width], a panel per point; sums as [square][point][width of in][width of
 * out].
 *
 * Either each thread takes a part of the tiles and has sums of its own, which are added up in the
 * end, in order; or threads share the chunks and take different squares.
 */
struct winograd_weights {
    const struct conv_shape *shape;
    const struct conv_norm *norm; /* of struct conv_pass */
    int block, width;
    int in_groups, out_groups;
    int tiles_h, tiles_w; /* of a row of the batch */
    size_t tiles;         /* of all rows */
    size_t parts;         /* of the tiles, with sums of their own */
    size_t chunk;         /* tiles, a multiple of WINOGRAD_RUN */
    size_t panel; /* floats of a panel, and of one point's sums in a square: with padding, */
    size_t sums;  /* so that the 36 of them do not meet in the same set of a cache */
};

/* Tiles added up in registers before they join the sums: for any chunk, the sums are the same. */
#define WINOGRAD_RUN 64

/* Where a tile is: `at` counts through all rows. */
struct winograd_position {
    size_t row;
    int y, x;
};

static inline struct winograd_position winograd_position_of(const struct winograd_weights *w,
                                                            size_t at)
{
    const size_t across = (size_t)w->tiles_w, image = across * (size_t)w->tiles_h;
    return (struct winograd_position){
        .row = at / image, .y = (int)(at % image / across), .x = (int)(at % across)};
}

static inline void winograd_position_next(const struct winograd_weights *w,
                                          struct winograd_position *p)
{
    if (++p->x < w->tiles_w)
        return;
    p->x = 0;
    if (++p->y < w->tiles_h)
        return;
    p->y = 0;
    p->row++;
}

/* A pair of groups, and how many channels of each there are. */
struct winograd_square {
    int in_group, out_group;
    int ins, outs;
};

/* The inner loops for one instruction set. Nothing is parallel here. */
struct winograd_weights_kernels {
    int block;
    /* V of tiles [from, from + count), in the panels of `group` from `v` on. */
    void (*input)(const struct winograd_weights *w, const float *x, int group, size_t from,
                  size_t count, float *v);
    /* D, likewise. */
    void (*gradient)(const struct winograd_weights *w, const float *dy, int group, size_t from,
                     size_t count, float *d);
    /* For one point: add the products of `count` tiles to the sums of a square, or set them where
     * `first` is set. */
    void (*multiply)(const struct winograd_weights *w, const struct winograd_square *square,
                     const float *v, const float *d, size_t count, bool first, float *sums);
    /* Add to bias[0..outs), or set it to, the sums of dy over the tiles with these D. */
    void (*bias)(const struct winograd_weights *w, const float *d, int outs, size_t count,
                 bool first, float *bias);
    /* The weights of input channel `in` of a square, from the sums of all parts, which lie `stride`
     * floats apart. */
    void (*finish)(const struct winograd_weights *w, const struct winograd_square *square, int in,
                   const float *sums, size_t stride, float *dw);
};

/* The halves of struct conv_method that need no vectors. */
bool winograd_weights_fits(const struct conv_shape *shape, int block);
size_t winograd_weights_scratch(const struct conv_shape *shape, int block, int threads);
void winograd_weights_run(const struct conv_pass *pass,
                          const struct winograd_weights_kernels *kernels);

#if defined(__x86_64__)
extern const struct conv_method winograd_weights_8;  /* block 8 */
extern const struct conv_method winograd_weights_16; /* block 16 */
#endif

#endif

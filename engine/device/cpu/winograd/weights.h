/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"
#include "engine/device/cpu/winograd/sizes.h"

/*
 * Winograd's gradient of 3x3 weights, for a stride of 1. With V = B^T x B of a window of the input
 * and D = A dy A^T of the pixels of the output's gradient that it feeds,
 *
 *     dw[out][in] = G^T (sum over tiles of V[in] * D[out], point by point) G
 *
 * which is the transpose of F(4x4,3x3) and the algorithm F(3x3,4x4): Lavin, Gray, Fast Algorithms
 * for Convolutional Neural Networks, 2015 (arXiv:1509.09308). For each of the 36 points the sum
 * over tiles is a product of matrices, (in x tiles) by (tiles x out).
 *
 * A side is cut into tiles of 4 outputs, and as many of 3 as leave little over: 7 is 4 + 3 with
 * 6 + 5 points, where two tiles of 4 have 12. The points of a tile of 3 are those of a tile of 4
 * but one, and all scales that differ are in its V, so that both add to the same sums.
 *
 * A band is a row of tiles across an image; bands are counted through all rows of the batch. They
 * are transformed a chunk at a time, chunks being short enough that V and D stay in a cache, long
 * enough that the sums need not be fetched too often. Channels are worked on in groups of `width`;
 * a pair of groups, one of the input and one of the output, is a square. V and D of a chunk lie as
 * [group][point][tile][width], a panel per point; sums as [square][point][width of in][width of
 * out]. Squares are multiplied a field at a time, some groups by some: all of it for one point,
 * then for the next, so that what a point needs stays in the second-level cache.
 *
 * Either each thread takes a part of the bands and has sums of its own, which are added up in the
 * end, in order; or threads share the chunks and take different points or fields.
 */
struct winograd_side {
    int fours, count; /* tiles: those of 4 outputs come first */
};

struct winograd_weights {
    const struct conv_shape *shape;
    const struct conv_norm *norm; /* of struct conv_pass */
    int block, width;
    int in_groups, out_groups;
    struct winograd_side high, wide; /* of an image */
    size_t bands, tiles;             /* of all rows */
    size_t parts;                    /* of the bands, with sums of their own */
    size_t chunk;                    /* bands */
    bool single;                     /* one chunk for all: squares are finished at once */
    int field;                       /* groups of a field's sides, at most */
    size_t panel; /* floats of a panel, and of one point's sums in a square: with padding, */
    size_t sums;  /* so that the 36 of them do not meet in the same set of a cache */
};

/* Tiles added up in registers before they join the sums. */
#define WINOGRAD_RUN 64

/* Kinds of tiles, as they follow one another in a panel: 4x4, 4x3, 3x4, 3x3. */
#define WINOGRAD_KINDS 4

/* Some bands, and where the tiles of each kind begin in panels. */
struct winograd_chunk {
    size_t from, count;
    size_t first[WINOGRAD_KINDS + 1]; /* the last: the end */
};

/* Bands of 4 pixels among the first `bands` of all. */
static inline size_t winograd_fours(const struct winograd_weights *w, size_t bands)
{
    const size_t count = (size_t)w->high.count, fours = (size_t)w->high.fours, rest = bands % count;
    return bands / count * fours + (rest < fours ? rest : fours);
}

/* The first output of a tile of a side. */
static inline int winograd_start(const struct winograd_side *side, int tile)
{
    return tile <= side->fours ? 4 * tile : 3 * tile + side->fours;
}

/* A pair of groups, and how many channels of each there are. */
struct winograd_square {
    int in_group, out_group;
    int ins, outs;
};

/* The inner loops over values of one type, f32 or bf16. V and D are f32. Nothing is parallel here.
 */
struct winograd_weights_transforms {
    /* V of `count` bands from the one with the number `from`, of a chunk, in the panels of `group`,
     * which begin at `v`. */
    void (*input)(const struct winograd_weights *w, const struct winograd_chunk *chunk,
                  const void *x, int group, size_t from, size_t count, float *v);
    /* D, likewise. */
    void (*gradient)(const struct winograd_weights *w, const struct winograd_chunk *chunk,
                     const void *dy, int group, size_t from, size_t count, float *d);
};

/* All of them for one instruction set. */
struct winograd_weights_kernels {
    int block;
    const struct winograd_weights_transforms *transforms[2]; /* of values of f32, of bf16 */
    /* For one point: add the products of `count` tiles to the sums of a square, or set them where
     * `first` is set. */
    void (*multiply)(const struct winograd_weights *w, const struct winograd_square *square,
                     const float *v, const float *d, size_t count, bool first, float *sums);
    /* Add to bias[0..outs), or set it to, the sums of these D, which are sums of a tile's pixels:
     * those of the point (1, 1). */
    void (*bias)(const struct winograd_weights *w, const float *d, int outs, size_t count,
                 bool first, float *bias);
    /* The weights of input channel `in` of a square, from the sums of all parts, which lie `stride`
     * floats apart. */
    void (*finish)(const struct winograd_weights *w, const struct winograd_square *square, int in,
                   const float *sums, size_t stride, float *dw);
};

/* The halves of struct conv_kernel that need no vectors; the scratch in bytes, for as many threads
 * as the pass then has: _run starts its own parallel region. */
bool winograd_weights_fits(const struct conv_shape *shape, int block);
size_t winograd_weights_scratch(const struct conv_shape *shape, int block, int threads);
void winograd_weights_run(const struct conv_pass *pass,
                          const struct winograd_weights_kernels *kernels);

#if defined(__x86_64__)
extern const struct conv_kernel winograd_weights_8;  /* block 8 */
extern const struct conv_kernel winograd_weights_16; /* block 16 */
extern const struct winograd_weights_transforms winograd_weights_transforms_8,
    winograd_weights_transforms_8_bf16;
extern const struct winograd_weights_transforms winograd_weights_transforms_16,
    winograd_weights_transforms_16_bf16;
#endif

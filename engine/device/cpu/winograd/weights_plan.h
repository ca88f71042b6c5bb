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
 * [group][point][tile][width], integers as pairs of tiles, a panel per point; sums as
 * [square][point][width of in][width of out]. Squares are multiplied a field at a time, some groups
 * by some: all of it for one point, then for the next, so that what a point needs stays in the
 * second-level cache.
 *
 * Either each thread takes a part of the bands and has sums of its own, which are added up in the
 * end, in order; or threads share the chunks and take different points or fields.
 */
struct winograd_side {
    int fours, count; /* tiles: those of 4 outputs come first */
};

struct winograd_weights_kernels;

struct winograd_weights {
    const struct conv_shape *shape;
    const struct conv_norm *norm; /* of struct conv_pass; not set by the plan */
    const struct winograd_weights_kernels *kernels;
    int block, width;
    int in_groups, out_groups;
    struct winograd_side high, wide; /* of an image */
    size_t bands, tiles;             /* of all rows */
    size_t parts;                    /* of the bands, with sums of their own */
    size_t chunk;                    /* bands */
    bool single;                     /* one chunk for all: squares are finished at once */
    int field;                       /* groups of a field's sides, at most */
    size_t made;                     /* floats of a panel as the transforms make it, */
    size_t panel;                    /* as it is multiplied, */
    size_t sums; /* and of one point's sums in a square: with padding, so that the 36 of them do
                    not meet in the same set of a cache */
    size_t runs; /* of scales of a panel, at most; 0: V and D have none */
};

/* Tiles added up in registers before they join the sums. */
#define WINOGRAD_RUN        64
#define WINOGRAD_SCALED_RUN 128 /* as integers */

/* Where a part of the scratch, which begins with the panels of V and of D, has the rest; floats.
 * `made` is for panels of one group and thread, until they are integers. */
struct winograd_weights_layout {
    size_t scales, sums, bias, made, end;
};

/* For a shape that fits the kernels. The scratch has `parts` times the layout. */
void winograd_weights_plan(struct winograd_weights *plan, const struct conv_shape *shape,
                           int threads);
struct winograd_weights_layout winograd_weights_layout(const struct winograd_weights *plan,
                                                       int threads);

static inline size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

static inline size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t winograd_squares(const struct winograd_weights *w)
{
    return (size_t)w->in_groups * (size_t)w->out_groups;
}

/* Groups of V, then of D. */
static inline size_t winograd_all_groups(const struct winograd_weights *w)
{
    return (size_t)w->in_groups + (size_t)w->out_groups;
}

static inline size_t winograd_panels(const struct winograd_weights *w)
{
    return winograd_all_groups(w) * WINOGRAD_POINTS;
}

/* Fields along a side of `groups`, and all of them. */
static inline size_t winograd_side_fields(const struct winograd_weights *w, int groups)
{
    return ceil_div((size_t)groups, (size_t)w->field);
}

static inline size_t winograd_fields(const struct winograd_weights *w)
{
    return winograd_side_fields(w, w->in_groups) * winograd_side_fields(w, w->out_groups);
}

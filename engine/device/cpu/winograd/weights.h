/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/winograd/weights_plan.h"

/* The inner loops of the gradient of weights (weights_plan.h), and its kernels. */

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

/* V or D of a group at a point, from some tile on: [tile][width], or integers as pairs of tiles,
 * with scales: [run][width]. */
struct winograd_panel {
    float *numbers, *scales;
};

static inline struct winograd_panel panel_from(struct winograd_panel panel, size_t channel)
{
    return (struct winograd_panel){panel.numbers + channel, panel.scales + channel};
}

/* The run after one that takes so many lines. */
static inline struct winograd_panel panel_after(struct winograd_panel panel, size_t lines,
                                                size_t width)
{
    return (struct winograd_panel){panel.numbers + lines * width, panel.scales + width};
}

/* The inner loops for one instruction set and type of values, f32 or bf16. Nothing is parallel
 * here.
 */
struct winograd_weights_kernels {
    int block;
    /* V of `count` bands from the one with the number `from`, of a chunk, in the panels of `group`,
     * which begin at `v`, w->made floats apart. */
    void (*input)(const struct winograd_weights *w, const struct winograd_chunk *chunk,
                  const void *x, int group, size_t from, size_t count, float *v);
    /* D, likewise. */
    void (*gradient)(const struct winograd_weights *w, const struct winograd_chunk *chunk,
                     const void *dy, int group, size_t from, size_t count, float *d);
    /* Turn `count` tiles of V or D, with so many channels, into the integers of a panel, each run
     * of them by itself; NULL: products are of f32. */
    void (*shrink)(const struct winograd_weights *w, int channels, size_t count,
                   const float *numbers, struct winograd_panel to);
    /* For one point: add the products of `count` tiles to the sums of a square, or set them where
     * `first` is set. */
    void (*multiply)(const struct winograd_weights *w, const struct winograd_square *square,
                     struct winograd_panel v, struct winograd_panel d, size_t count, bool first,
                     float *sums);
    /* Add to bias[0..outs), or set it to, the sums of these D, which are f32 and sums of a tile's
     * pixels: those of the point (1, 1). */
    void (*bias)(const struct winograd_weights *w, const float *d, int outs, size_t count,
                 bool first, float *bias);
    /* The weights of input channel `in` of a square, from the sums of all parts, which lie `stride`
     * floats apart. */
    void (*finish)(const struct winograd_weights *w, const struct winograd_square *square, int in,
                   const float *sums, size_t stride, float *dw);
};

#if defined(__x86_64__)
extern const struct winograd_weights_kernels winograd_weights_avx2, winograd_weights_avx2_bf16;
extern const struct winograd_weights_kernels winograd_weights_avx512, winograd_weights_avx512_bf16;
#endif

/* For values of f32, and of bf16 with products of integers of 16 bits (weights_fixed.h). */
extern const struct conv_kernel winograd_weights_8[2];  /* block 8 */
extern const struct conv_kernel winograd_weights_16[2]; /* block 16 */

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The inner loops of BatchNorm with what follows it (addition, ReLU), one set per instruction set.
 * A call works on one slab: one block of channels of some rows. All of them are memory-bound, so
 * they read each tensor as few times as possible: the ReLU after a plain BatchNorm leaves no mask,
 * it is recomputed from x; the one after an addition leaves one bit per element. Values are f32 or
 * bf16, as the table says. The arithmetic is in f32, and sums are of numbers that have not been
 * rounded to be stored. Channel-wise arrays hold `block` floats. Nothing is parallel here.
 */

#define KERNELS_MAX_BLOCK 16

/* Where a slab lies: rows of `pixels` x block numbers, `stride` numbers apart. */
struct slab {
    size_t rows, pixels, stride;
};

/* y = x * scale + shift [+ residual], then max(0, y) where `relu` is set. */
struct norm_forward {
    struct slab slab;
    const void *x, *residual; /* residual: NULL, or relu must be set */
    void *y;
    uint16_t *mask; /* with residual: a word per pixel, a bit per channel: y > 0. NULL: unwanted */
    const float *scale, *shift;
    bool relu;
    bool stream; /* y is too large to stay in the caches: store past them */
};

/*
 * The gradient before the ReLU is g = (dy [+ dy2]) where y > 0. Sums: of g and of g*(x - mean).
 * Data: dx = a*g + b*x + c. With `mask` (residual) the sums pass leaves g in `g`, which may be dy,
 * and the data pass reads it there.
 */
struct norm_backward {
    struct slab slab;
    const void *dy, *dy2, *x; /* dy2: NULL, or the other part of the gradient */
    const uint16_t *mask;     /* as left by the forward pass, or NULL */
    void *g, *dx;
    const float *scale, *shift, *mean; /* of the forward pass */
    const float *a, *b, *c;
    bool relu, stream;
};

struct kernels {
    int block;
    bool bf16; /* values are */
    /* The numbers of a block's channels at one pixel. */
    void (*widen)(const void *values, float *to);
    /* sums[0..block) = sums of (x - origin), sums[block..2*block) of its squares */
    void (*norm_sums)(const struct slab *slab, const void *x, const float *origin, double *sums);
    void (*norm_forward)(const struct norm_forward *args);
    /* sums[0..block) = sums of g, sums[block..2*block) of g*(x - mean) */
    void (*norm_backward_sums)(const struct norm_backward *args, double *sums);
    void (*norm_backward_data)(const struct norm_backward *args);
};

/* For values of `block` channels, of bf16 or f32, on this processor. 1 is always there. */
const struct kernels *kernels_find(int block, bool bf16);

extern const struct kernels kernels_plain, kernels_plain_bf16; /* block 1, any processor */
#if defined(__x86_64__)
extern const struct kernels kernels_avx2, kernels_avx2_bf16;     /* block 8 */
extern const struct kernels kernels_avx512, kernels_avx512_bf16; /* block 16 */
#endif

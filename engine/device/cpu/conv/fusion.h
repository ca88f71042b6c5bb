/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "engine/device/cpu/simd/kernels.h"

/*
 * Fusion of a convolution with the BatchNorms before and after it: what it computes for them while
 * it has their numbers in registers, each of which saves passes over memory (Jung et al. 2019,
 * Restructuring Batch Normalization to Accelerate CNN Training, arXiv:1807.01702).
 */

/* FORWARD, BACKWARD_WEIGHTS: read max(0, x * scale + shift) instead of x, rounded to bf16 where x
 * is bf16, as if it had been stored. The padding around the picture stays zero. Arrays over the
 * channels of x. */
struct conv_norm {
    const float *scale, *shift;
};

/*
 * FORWARD: sums over the part of a result that one thread wrote, of a block of its channels: of
 * (y - origin) and its squares, y before it is rounded to be stored. The origin is one of these
 * numbers, near enough to the mean to keep the squares small.
 */
struct conv_moments {
    double sum[KERNELS_MAX_BLOCK], square[KERNELS_MAX_BLOCK];
    float origin[KERNELS_MAX_BLOCK];
    long count; /* numbers of each channel; 0: this thread wrote none, and nothing else is set */
};

/*
 * Add up the moments of all threads for a block of channels, in their order: sums[0..width), and
 * the squares after them, both about the origin[0..width) of the first thread that wrote anything.
 * `moments` are the first thread's, those of the next lie `stride` further.
 */
void conv_moments_join(const struct conv_moments *moments, int stride, int threads, int width,
                       double *sums, float *origin);

struct buffer;
struct value;

/* A BatchNorm with ReLU whose result is not stored: convolutions compute it from x as they read. */
struct fused_norm {
    struct buffer *x;     /* NULL: the result is stored */
    struct buffer *stats; /* with `scale` and `shift`, which count floats from its start */
    size_t scale, shift;
    bool bf16; /* x is, and its result would be */
};

/* Its result from `rows` rows of x, both in the layout of `value`. */
void fused_norm_apply(const struct fused_norm *norm, const struct value *value, size_t rows,
                      const void *x, void *result);

/* What layers tell each other about a value of the graph while a plan is built. */
struct conv_fusion {
    struct buffer *moments; /* the convolution that makes the value fills it: struct conv_moments
                             * for each thread and block of channels; NULL: it does not */
    struct fused_norm norm; /* the BatchNorm that makes the value */
};

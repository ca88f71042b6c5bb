/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CONV_BESIDE_H
#define DPARTUI_ENGINE_DEVICE_CPU_CONV_BESIDE_H

#include "engine/device/cpu/simd/kernels.h"

/*
 * What a convolution can do for the BatchNorms beside it while it has their numbers in registers:
 * each of these saves passes over memory (Jung et al. 2019, Restructuring Batch Normalization to
 * Accelerate CNN Training, arXiv:1807.01702).
 */

/* FORWARD, BACKWARD_WEIGHTS: read max(0, x * scale + shift) instead of x. What lies around the
 * picture stays zero. Arrays over the channels of x. */
struct conv_norm {
    const float *scale, *shift;
};

/*
 * FORWARD: sums over the part of a result that one thread wrote, of a block of its channels: of
 * (y - origin) and its squares. The origin is one of these numbers, near enough to the mean to keep
 * the squares small.
 */
struct conv_moments {
    double sum[KERNELS_MAX_BLOCK], square[KERNELS_MAX_BLOCK];
    float origin[KERNELS_MAX_BLOCK];
    long count; /* numbers of each channel; 0: this thread wrote none, and nothing else is set */
};

/*
 * Add up what all threads found of a block of channels, in their order: sums[0..width) and behind
 * them the squares, both about the origin[0..width) of the first that found anything. `moments` are
 * its first thread's, those of the next lie `stride` further.
 */
void conv_moments_join(const struct conv_moments *moments, int stride, int threads, int width,
                       double *sums, float *origin);

#endif

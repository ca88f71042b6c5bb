/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/lanes/lanes.h"

/* What convolutions by lanes/winograd.h need besides their loops: which, how much memory, weights.
 */

/* `tile` for a convolution, by the operations that it saves. */
int lanes_conv_tile(const struct lanes_conv *c);

/* Tiles of a row of y. */
static inline int lanes_tiles(const struct lanes_conv *c)
{
    return (c->y.w + c->tile - 1) / c->tile;
}

/* How many rows of results a tiled convolution makes before it turns the next rows of an image of
 * `channels` into points, along with as many rows of `more` other channels. */
int lanes_band(const struct lanes_conv *c, int lanes, int channels, int more);
size_t lanes_conv_scratch(const struct lanes_conv *c, const struct lanes_kernels *k);

/* One row of a kernel, `width` weights, at all points, `point` floats apart. */
void lanes_weights_to_points(int width, const float *w, float *to, ptrdiff_t point);
/* The transposed: its gradient from that at all points. */
void lanes_weights_from_points(int width, const float v[LANES_POINTS], float *dw);

/* How many floats, or vectors of sums, stand for the weights of a convolution. */
static inline size_t lanes_conv_weights(const struct lanes_conv *c)
{
    return (size_t)c->x.c * (size_t)c->y.c * (size_t)c->kernel_h *
           (size_t)(c->tile > 0 ? LANES_POINTS : c->kernel_w);
}

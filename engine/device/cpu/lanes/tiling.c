/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/lanes/tiling.h"

/* Floats of points that stay in the second cache with what else a group has there. */
#define BAND_FLOATS 49152

int lanes_conv_tile(const struct lanes_conv *c)
{
    const long in = c->x.c, out = c->y.c, products = in * out * c->kernel_h;
    const int tile = LANES_POINTS + 1 - c->kernel_w;
    if (c->kernel_w != 3 && c->kernel_w != 5)
        return 0;
    /* Of a row of results, in vector operations: those that turn tiles into points and back, with
     * what it costs to begin and end a sum, and the products. A fifth must be saved. */
    const long tiles = (c->y.w + tile - 1) / tile, changes = 32 * in + (48 + 4 * tile) * out;
    const long tiled = tiles * (LANES_POINTS * products + changes),
               plain = products * c->kernel_w * c->y.w;
    return 5 * tiled < 4 * plain ? tile : 0;
}

int lanes_band(const struct lanes_conv *c, int lanes, int channels, int more)
{
    const long row = (long)LANES_POINTS * lanes_tiles(c) * lanes,
               most = c->x.h > c->y.h ? c->x.h : c->y.h;
    const long rows = (BAND_FLOATS / row - (long)channels * (c->kernel_h - 1)) / (channels + more);
    return (int)(rows < 1 ? 1 : rows > most ? most : rows);
}

size_t lanes_conv_scratch(const struct lanes_conv *c, const struct lanes_kernels *k)
{
    const long in = c->x.c, out = c->y.c, halo = c->kernel_h - 1, outer = k->outer_outputs;
    const long lanes = k->lanes, row = LANES_POINTS * lanes_tiles(c) * lanes;
    const long forward = in * (lanes_band(c, k->lanes, c->x.c, 0) + halo) + out,
               data = out * (lanes_band(c, k->lanes, c->y.c, 0) + halo) + in,
               band = lanes_band(c, k->lanes, c->x.c, k->outer_outputs),
               weights = in * (band + halo) + outer * band;
    long most = forward > data ? forward : data;
    most = (most > weights ? most : weights) * row;
    /* and for weights while they are packed, which are no vectors */
    const long packing = LANES_POINTS * in * out * c->kernel_h;
    return (size_t)(most > packing ? most : packing);
}

/* Row p of G is a^0, a^1, ... for the point a, divided by the product of its distances to the other
 * points; 1 as its first and last number for 0 and infinity. */
static const float of_one = -2.0F / 9, of_two = 1.0F / 90, of_half = 32.0F / 45;

void lanes_weights_to_points(int width, const float *w, float *to, ptrdiff_t point)
{
    float even[3] = {0}, odd[3] = {0}, power = 1;
    for (int k = 0; k < width; k++, power *= 2) {
        float *part = k % 2 ? odd : even;
        part[0] += w[k];
        part[1] += power * w[k];
        part[2] += w[k] / power;
    }
    to[0] = w[0];
    to[point] = of_one * (even[0] + odd[0]);
    to[2 * point] = of_one * (even[0] - odd[0]);
    to[3 * point] = of_two * (even[1] + odd[1]);
    to[4 * point] = of_two * (even[1] - odd[1]);
    to[5 * point] = of_half * (even[2] + odd[2]);
    to[6 * point] = of_half * (even[2] - odd[2]);
    to[7 * point] = w[width - 1];
}

void lanes_weights_from_points(int width, const float v[LANES_POINTS], float *dw)
{
    const float part[2][3] = {
        {of_one * (v[1] + v[2]), of_two * (v[3] + v[4]), of_half * (v[5] + v[6])},
        {of_one * (v[1] - v[2]), of_two * (v[3] - v[4]), of_half * (v[5] - v[6])}};
    float power = 1;
    for (int k = 0; k < width; k++, power *= 2) {
        const float *p = part[k % 2];
        dw[k] = p[0] + power * p[1] + p[2] / power;
    }
    dw[0] += v[0];
    dw[width - 1] += v[7];
}

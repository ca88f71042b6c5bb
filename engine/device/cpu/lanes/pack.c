/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/lanes/pack.h"

#include "engine/device/cpu/lanes/tiling.h"

static void pack_conv(const struct lanes_kernels *k, int out, int in, int taps, const float *w,
                      float *packed)
{
    for (int o = 0, size; o < out; o += size) {
        size = lanes_conv_block(out, k->conv_outputs, o);
        for (ptrdiff_t t = 0; t < (ptrdiff_t)in * taps; t++)
            for (int b = 0; b < size; b++)
                *packed++ = w[(o + b) * (ptrdiff_t)in * taps + t];
    }
}

static void pack_data(const struct lanes_kernels *k, int out, int in, int taps, const float *w,
                      float *packed)
{
    for (int i = 0, size; i < in; i += size) {
        size = lanes_conv_block(in, k->conv_outputs, i);
        for (int o = 0; o < out; o++)
            for (int t = 0; t < taps; t++)
                for (int b = 0; b < size; b++)
                    *packed++ = w[((ptrdiff_t)o * in + i + b) * taps + t];
    }
}

typedef void packing(const struct lanes_kernels *k, int out, int in, int taps, const float *w,
                     float *packed);

static void pack(const struct lanes_kernels *k, const struct lanes_conv *c, const float *w,
                 float *packed, float *scratch, packing *pack_taps)
{
    const int in = c->x.c, out = c->y.c;
    const ptrdiff_t rows = (ptrdiff_t)out * in * c->kernel_h;
    if (c->tile == 0) {
        pack_taps(k, out, in, c->kernel_h * c->kernel_w, w, packed);
        return;
    }
    for (ptrdiff_t i = 0; i < rows; i++)
        lanes_weights_to_points(c->kernel_w, w + i * c->kernel_w, scratch + i, rows);
    for (int p = 0; p < LANES_POINTS; p++)
        pack_taps(k, out, in, c->kernel_h, scratch + p * rows, packed + p * rows);
}

void lanes_pack_conv(const struct lanes_kernels *k, const struct lanes_conv *c, const float *w,
                     float *packed, float *scratch)
{
    pack(k, c, w, packed, scratch, pack_conv);
}

void lanes_pack_data(const struct lanes_kernels *k, const struct lanes_conv *c, const float *w,
                     float *packed, float *scratch)
{
    pack(k, c, w, packed, scratch, pack_data);
}

void lanes_pack_linear(const struct lanes_kernels *k, int out, int in, const float *w,
                       float *packed, int part, int parts)
{
    for (int o = 0, block = 0, size; o < out; o += size, block++) {
        size = lanes_linear_block(out - o, k->linear_outputs);
        if (block % parts != part)
            continue;
        float *to = packed + (ptrdiff_t)o * in;
        for (int i = 0; i < in; i++)
            for (int b = 0; b < size; b++)
                *to++ = w[(ptrdiff_t)(o + b) * in + i];
    }
}

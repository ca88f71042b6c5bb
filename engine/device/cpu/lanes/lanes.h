/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Loops for small networks, one set per instruction set. A group is as many rows of the batch as a
 * vector has lanes, and every number of a layer is a vector: one lane per row. So vectors are full
 * whatever the number of channels is, weights are broadcast, nothing is ever rearranged, and a
 * group goes through the whole network, forward and backward, without leaving the cache.
 *
 * A call works on one group; nothing is parallel here. "Vectors" in memory are LANES floats.
 */

#define LANES_MOST 16

/* Products of a tile by Winograd's algorithm, see lanes/winograd.h. */
#define LANES_POINTS 8

/* What follows a layer and is computed along with it. */
enum lanes_act { LANES_NONE, LANES_RELU, LANES_SIGMOID, LANES_TANH };

/* A value of a group: [c][pad_h + h + pad_h][pad_w + w + pad_w] vectors, the border being zero. */
struct lanes_image {
    int c, h, w, pad_h, pad_w;
};

/* All in vectors. */
static inline ptrdiff_t lanes_row(const struct lanes_image *i)
{
    return i->w + 2 * (ptrdiff_t)i->pad_w;
}

static inline ptrdiff_t lanes_plane(const struct lanes_image *i)
{
    return (i->h + 2 * (ptrdiff_t)i->pad_h) * lanes_row(i);
}

static inline ptrdiff_t lanes_size(const struct lanes_image *i)
{
    return i->c * lanes_plane(i);
}

/* Where its first number lies, after the border. */
static inline ptrdiff_t lanes_first(const struct lanes_image *i)
{
    return i->pad_h * lanes_row(i) + i->pad_w;
}

/* A convolution of stride 1; x has the border that it wants. */
struct lanes_conv {
    int kernel_h, kernel_w;
    struct lanes_image x, y;
    enum lanes_act act;
    int tile; /* results side by side that Winograd's algorithm makes at a time; 0: direct */
};

struct lanes_pool {
    bool max; /* else the mean over the whole window, the border counted */
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    struct lanes_image x, y;
};

/* Rows of the data set as a group takes them: of `numbers` each, all channels one after the other.
 * x = byte * scale + shift by the channel; floats are taken as they are. */
struct lanes_rows {
    const uint8_t *bytes[LANES_MOST];
    const float *floats[LANES_MOST]; /* when bytes[0] is NULL */
    const float *scale, *shift;
};

/*
 * One matrix product, as all layers come down to it: y[o] = start + sum over taps of w[o] * x, for
 * `outputs` numbers o, each over `vectors` vectors that lie side by side. Taps are numbered by
 * plane, row and column, with a distance in floats for each in x and in w.
 */
struct lanes_product {
    int planes, rows, columns;
    ptrdiff_t x_plane, x_row, x_column;
    ptrdiff_t w_plane, w_row, w_column;
    ptrdiff_t y_output; /* floats from output to output */
};

struct lanes_kernels {
    const char *name;
    int lanes;
    int conv_outputs;   /* a block of outputs of a convolution has at most this many */
    int linear_outputs; /* and one of a linear layer; a power of two */
    int outer_outputs;  /* and one of the gradient of a convolution's weights */

    void (*load)(const struct lanes_image *image, const struct lanes_rows *rows, float *x);
    /* `count` vectors from and to rows of at least `count` floats, `stride` floats apart; as many
     * are written as fill whole vectors. */
    void (*to_rows)(const float *x, int count, float *rows, ptrdiff_t stride);
    void (*from_rows)(const float *rows, ptrdiff_t stride, int count, float *x);
    /* sums[i] = the lanes of vector i added up; count is a multiple of LANES */
    void (*add_lanes)(const float *x, int count, float *sums);

    /* y = act(conv(x) + bias), the border of y cleared; that of x must be clear. `w` as
     * lanes_pack_conv leaves it. Of tiled convolutions all three want lanes_conv_scratch() floats.
     */
    void (*conv)(const struct lanes_conv *c, const float *x, const float *w, const float *bias,
                 float *y, float *scratch);
    /* Vectors sums[out][in][kernel_h][kernel_w] += products of dy, which lies as y, and x; tiled:
     * sums[LANES_POINTS][out][in][kernel_h]. What lies in the border of dy does not matter. */
    void (*conv_weights)(const struct lanes_conv *c, const float *x, const float *dy, float *sums,
                         float *scratch);
    /* dx, which lies as x; its border is left alone. `w` as lanes_pack_data leaves it. */
    void (*conv_data)(const struct lanes_conv *c, const float *dy, const float *w, float *dx,
                      float *scratch);

    /* y = act(W x + bias); `w` as lanes_pack_linear leaves it */
    void (*linear)(int in, int out, enum lanes_act act, const float *x, const float *w,
                   const float *bias, float *y);
    /* dx = W^T dy; `w` row-major, out x in */
    void (*linear_data)(int in, int out, const float *dy, const float *w, float *dx);
    /* dw[o][k] = sum over n of dy[n][o] * x[n][k], for `out` rows of `in` numbers; x and dy have
     * rows of whole vectors, x_stride and dy_stride floats apart. */
    void (*linear_weights)(int rows, int in, int out, const float *x, ptrdiff_t x_stride,
                           const float *dy, ptrdiff_t dy_stride, float *dw);

    /* y = act(x), the border of y cleared. */
    void (*activate)(enum lanes_act act, const struct lanes_image *image, const float *x, float *y);
    /* d *= act'(y) in place; and vectors sums[c] (may be NULL) += those of channel c. */
    void (*activate_back)(enum lanes_act act, const struct lanes_image *image, const float *y,
                          float *d, float *sums);

    void (*pool)(const struct lanes_pool *p, const float *x, float *y);
    /*
     * dx, which lies as x. Of a simple pooling (see below) dx may be x itself, and is multiplied by
     * act'(x), with vectors sums[c] += those of channel c; else act must be LANES_NONE and sums
     * NULL.
     */
    void (*pool_back)(const struct lanes_pool *p, const float *x, const float *y, const float *dy,
                      float *dx, enum lanes_act act, float *sums);
    /* y = x * factor where factor > 0, else 0. */
    void (*mask)(const float *x, const float *factor, int count, float *y);
};

/* Whether windows neither overlap nor reach over the edge. */
static inline bool lanes_pool_is_simple(const struct lanes_pool *p)
{
    return p->stride_h >= p->kernel_h && p->stride_w >= p->kernel_w && p->pad_h == 0 &&
           p->pad_w == 0;
}

/* The loops for this processor, where values have blocks of `block` channels: of as many lanes.
 * NULL where there are none; for 1 there always are. */
const struct lanes_kernels *lanes_find(int block);

/* Size of the block that begins at output `done`, where a block has at most `most`: as even as can
 * be, so that none is nearly empty. */
static inline int lanes_conv_block(int outputs, int most, int done)
{
    int blocks = (outputs + most - 1) / most, least = outputs / blocks, more = outputs % blocks;
    return done < more * (least + 1) ? least + 1 : least;
}

static inline int lanes_linear_block(int left, int most)
{
    int block = most;
    while (block > left)
        block /= 2;
    return block;
}

extern const struct lanes_kernels lanes_plain; /* any processor */
#if defined(__x86_64__)
extern const struct lanes_kernels lanes_avx2;
extern const struct lanes_kernels lanes_avx512;
#endif

/* SPDX-License-Identifier: MIT */

/*
 * The matrix products of lanes/kernels.h: blocks of sums that stay in registers. The sizes of a
 * block are constants of an inlined function, so that the compiler unrolls all loops over it.
 */

/* Arrays of a fixed size are what it keeps in registers. */
#define MOST_OUTPUTS 16
#define MOST_VECTORS 4

/* A block of `outputs` times `vectors` sums. start: of each output; NULL: zero. */
INLINE void product_block(const struct lanes_product *t, const float *x, const float *w,
                          const float *start, float *y, const int outputs, const int vectors)
{
    vector sum[MOST_OUTPUTS][MOST_VECTORS];
#pragma GCC unroll 16
    for (int o = 0; o < outputs; o++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sum[o][v] = v_all(start ? start[o] : 0);
    for (int i = 0; i < t->planes; i++) {
        for (int j = 0; j < t->rows; j++) {
            const float *px = x + i * t->x_plane + j * t->x_row;
            const float *pw = w + i * t->w_plane + j * t->w_row;
            for (int k = 0; k < t->columns; k++) {
#pragma GCC unroll 16
                for (int o = 0; o < outputs; o++) {
                    const vector factor = v_all(pw[o]);
#pragma GCC unroll 4
                    for (int v = 0; v < vectors; v++)
                        sum[o][v] = v_fma(v_load(px + v * LANES), factor, sum[o][v]);
                }
                px += t->x_column;
                pw += t->w_column;
            }
        }
    }
#pragma GCC unroll 16
    for (int o = 0; o < outputs; o++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            v_store(y + o * t->y_output + v * LANES, sum[o][v]);
}

/* Blocks of one to six outputs and of one to four vectors, as far as registers go. */
#define BLOCK(outputs, vectors)                                                                    \
    case (outputs)*8 + (vectors):                                                                  \
        product_block(t, x, w, start, y, outputs, vectors);                                        \
        break;
#define BLOCKS(vectors)                                                                            \
    BLOCK(1, vectors)                                                                              \
    BLOCK(2, vectors) BLOCK(3, vectors) BLOCK(4, vectors) BLOCK(5, vectors) BLOCK(6, vectors)

static TARGET void product(const struct lanes_product *t, const float *x, const float *w,
                           const float *start, float *y, int outputs, int vectors)
{
    switch (outputs * 8 + vectors) {
        BLOCKS(1)
        BLOCKS(2)
#if PRODUCT_VECTORS == 4
        BLOCKS(3)
        BLOCKS(4)
#endif
    }
}

#undef BLOCK
#undef BLOCKS

/* The same over one vector, for up to 16 outputs, a power of two. */
static TARGET void product_tall(const struct lanes_product *t, const float *x, const float *w,
                                const float *start, float *y, int outputs)
{
    switch (outputs) {
    case 1:
        product_block(t, x, w, start, y, 1, 1);
        break;
    case 2:
        product_block(t, x, w, start, y, 2, 1);
        break;
    case 4:
        product_block(t, x, w, start, y, 4, 1);
        break;
    case 8:
        product_block(t, x, w, start, y, 8, 1);
        break;
#if LINEAR_OUTPUTS == 16
    case 16:
        product_block(t, x, w, start, y, 16, 1);
        break;
#endif
    }
}

/* How many of `left` vectors to take at a time: the last two blocks are about equal. */
static inline int vectors_at_once(int left)
{
    if (left >= 2 * PRODUCT_VECTORS)
        return PRODUCT_VECTORS;
    return left > PRODUCT_VECTORS ? (left + 1) / 2 : left;
}

/*
 * What outer_block works on: `height` rows of `width` vectors; dy of `outputs` channels, x seen
 * from `taps` places.
 */
struct outer {
    int height, width;
    ptrdiff_t x_row, dy_row; /* floats */
    ptrdiff_t x_tap;         /* from place to place */
    ptrdiff_t dy_output;     /* from channel to channel */
    ptrdiff_t sums_output;   /* sums of a channel, in floats */
};

/* sums[o][tap] += dy[o] * x[tap], added up over all vectors. */
INLINE void outer_block(const struct outer *t, const float *x, const float *dy, float *sums,
                        const int outputs, const int taps)
{
    vector sum[4][5];
#pragma GCC unroll 4
    for (int o = 0; o < outputs; o++)
#pragma GCC unroll 5
        for (int k = 0; k < taps; k++)
            sum[o][k] = v_all(0);
    for (int i = 0; i < t->height; i++) {
        const float *px = x + i * t->x_row, *pd = dy + i * t->dy_row;
        for (int j = 0; j < t->width; j++, px += LANES, pd += LANES) {
            vector d[4];
#pragma GCC unroll 4
            for (int o = 0; o < outputs; o++)
                d[o] = v_load(pd + o * t->dy_output);
#pragma GCC unroll 5
            for (int k = 0; k < taps; k++) {
                const vector v = v_held(v_load(px + k * t->x_tap));
#pragma GCC unroll 4
                for (int o = 0; o < outputs; o++)
                    sum[o][k] = v_fma(d[o], v, sum[o][k]);
            }
        }
    }
#pragma GCC unroll 4
    for (int o = 0; o < outputs; o++)
#pragma GCC unroll 5
        for (int k = 0; k < taps; k++) {
            float *at = sums + o * t->sums_output + k * LANES;
            v_store(at, v_load(at) + sum[o][k]);
        }
}

#define MOST_TAPS 5

#define BLOCK(outputs, taps)                                                                       \
    case (outputs)*8 + (taps):                                                                     \
        outer_block(t, x, dy, sums, outputs, taps);                                                \
        break;
#define BLOCKS(outputs)                                                                            \
    BLOCK(outputs, 1) BLOCK(outputs, 2) BLOCK(outputs, 3) BLOCK(outputs, 4) BLOCK(outputs, 5)

static TARGET void outer(const struct outer *t, const float *x, const float *dy, float *sums,
                         int outputs, int taps)
{
    switch (outputs * 8 + taps) {
        BLOCKS(1)
        BLOCKS(2)
#if OUTER_OUTPUTS == 4
        BLOCKS(3)
        BLOCKS(4)
#endif
    }
}

#undef BLOCK
#undef BLOCKS

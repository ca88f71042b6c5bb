/* SPDX-License-Identifier: MIT */

/* Tiles of 32 rows of a batch, for weights.h. Part of blocked.h. */

/* A pixel's block of channels of up to 32 rows, each `row` numbers after the other, as a tile:
 * pairs of rows, or with `transposed` a line for each channel. */
INLINE void pack_pixel(const uint16_t *from, ptrdiff_t row, int rows, const struct conv_norm *norm,
                       size_t channel, bool transposed, uint16_t *to)
{
    vector m[BLOCK];
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++) {
        const vector low = 2 * i < rows ? read_block(from + 2 * i * row, norm, channel) : v_zero();
        const vector high =
            2 * i + 1 < rows ? read_block(from + (2 * i + 1) * row, norm, channel) : v_zero();
        m[i] = pairs_of(low, high);
    }
    if (transposed)
        transpose(m);
#pragma GCC unroll 16
    for (int i = 0; i < BLOCK; i++)
        v_store((float *)to + (ptrdiff_t)i * BLOCK, m[i]);
}

/* Pixels of a block that follow one another. The conditions are constants in each call: the loop
 * over a pixel has no test of them. */
TARGET static void pack_pixels(const uint16_t *from, ptrdiff_t row, int rows, int pixels,
                               const struct conv_norm *norm, size_t channel, bool transposed,
                               uint16_t *to)
{
    for (int i = 0; i < pixels; i++, from += BLOCK, to += TILE) {
        if (norm)
            pack_pixel(from, row, rows, norm, channel, true, to);
        else if (transposed)
            pack_pixel(from, row, rows, NULL, 0, true, to);
        else
            pack_pixel(from, row, rows, NULL, 0, false, to);
    }
}

/* The gradients of the bias from packed dy, which is zero where there is no row. */
TARGET static void add_bias(const uint16_t *tiles, int pixels, double *to)
{
    for (int pixel = 0; pixel < pixels; pixel++, tiles += TILE) {
        vector sum = v_zero();
        for (int i = 0; i < TILE_LINES; i++) {
            const words pairs = (words)v_load((const float *)tiles + (ptrdiff_t)i * BLOCK);
            sum += (vector)(pairs << 16) + (vector)(pairs & 0xffff0000u);
        }
        for (int k = 0; k < BLOCK; k++)
            to[k] += (double)sum[k];
    }
}

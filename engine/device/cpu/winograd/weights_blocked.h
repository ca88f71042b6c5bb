/* SPDX-License-Identifier: MIT */

/*
 * The products of winograd/weights.h in f32, for a block that is one vector. Included like
 * simd/blocked.h, between weights_tiles.h and weights_table.h.
 */

#define RUN          WINOGRAD_RUN
#define LINES(tiles) (tiles) /* of a panel */
#define SHRINK       NULL    /* V and D stay as they are */

/*
 * sums[rows][columns vectors] (+)= V^T D of `count` tiles; all strides are `width`. The sums are
 * asked for long before they are needed, and of V and D what the next run will read: the processor
 * does not look beyond a page by itself.
 */
static inline __attribute__((always_inline)) TARGET void
multiply_run(struct winograd_panel left, struct winograd_panel right, size_t count, size_t width,
             bool first, float *sums, int rows, int columns)
{
    const float *v = left.numbers, *d = right.numbers;
    vector sum[LANES][COLUMNS];
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            sum[r][c] = v_zero();
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(sums + (size_t)r * width + c, 1);
    }
    for (size_t t = 0; t < count; t++, v += width, d += width) {
        vector outs[COLUMNS];
        __builtin_prefetch(v + RUN * width);
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(d + RUN * width + c);
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            outs[c] = v_load(d + c * LANES);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            const vector in = v_all(v[r]);
#pragma GCC unroll 2
            for (int c = 0; c < columns; c++)
                sum[r][c] = v_fma(in, outs[c], sum[r][c]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++) {
            float *to = sums + (size_t)r * width + (size_t)c * LANES;
            if (!first)
                sum[r][c] += v_load(to);
            v_store(to, sum[r][c]);
        }
}

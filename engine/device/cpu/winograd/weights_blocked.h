/* SPDX-License-Identifier: MIT */

/*
 * The products of winograd/weights.h in f32, for a block that is one vector. Included like
 * simd/blocked.h, before weights_table.h.
 */

/* Input channels by vectors of the output that a product holds in registers. */
#define ROWS    (LANES / 2)
#define COLUMNS 2

#define LINE 16 /* floats of a cache line */

#define SHRINK NULL /* V and D stay as they are */

/*
 * sums[rows][columns vectors] (+)= V^T D of `count` tiles; all strides are `width`. The sums are
 * asked for long before they are needed, and of V and D what the next run will read: the processor
 * does not look beyond a page by itself.
 */
static inline __attribute__((always_inline)) TARGET void
multiply_run(const float *v, const float *d, size_t count, size_t width, bool first, float *sums,
             int rows, int columns)
{
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
        vector right[COLUMNS];
        __builtin_prefetch(v + WINOGRAD_RUN * width);
        for (int c = 0; c < columns * LANES; c += LINE)
            __builtin_prefetch(d + WINOGRAD_RUN * width + c);
#pragma GCC unroll 2
        for (int c = 0; c < columns; c++)
            right[c] = v_load(d + c * LANES);
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++) {
            const vector left = v_all(v[r]);
#pragma GCC unroll 2
            for (int c = 0; c < columns; c++)
                sum[r][c] = v_fma(left, right[c], sum[r][c]);
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

/* One run of tiles. */
static TARGET void multiply_square(const struct winograd_square *square, const float *v,
                                   const float *d, size_t count, size_t width, bool first,
                                   float *sums)
{
    const size_t ins = (size_t)square->ins, outs = (size_t)square->outs;
    size_t out = 0;
    for (; out + COLUMNS * LANES <= outs; out += COLUMNS * LANES)
        for (size_t in = 0; in < ins; in += ROWS)
            multiply_run(v + in, d + out, count, width, first, sums + in * width + out, ROWS,
                         COLUMNS);
    if (out < outs)
        for (size_t in = 0; in < ins; in += LANES)
            multiply_run(v + in, d + out, count, width, first, sums + in * width + out, LANES, 1);
}

static TARGET void multiply(const struct winograd_weights *w, const struct winograd_square *square,
                            struct winograd_panel v, struct winograd_panel d, size_t count,
                            bool first, float *sums)
{
    const size_t width = (size_t)w->width;
    size_t t = 0;
    do {
        const size_t run = count - t < WINOGRAD_RUN ? count - t : WINOGRAD_RUN;
        multiply_square(square, v.numbers + t * width, d.numbers + t * width, run, width,
                        first && t == 0, sums);
        t += run;
    } while (t < count);
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The linear maps of winograd.h's tiles, after Lavin, Gray, Fast Algorithms for Convolutional
 * Neural Networks, 2015 (arXiv:1509.09308). Every lane of a vector is a channel of its own.
 * Part of winograd/blocked.h and winograd/transforms.h.
 *
 * Along a side, a tile of 4 interpolates at 0, 1, -1, 2, -2 and infinity, a tile of 3 at all of
 * them but -2. Weights are taken at these points as they are, divided by 6, whatever the tile; what
 * Lagrange's interpolation divides by differs between the tiles and is in the maps of the values
 * and of the results, mostly for nothing.
 */

#include "engine/device/cpu/simd/stored.h"
#include "engine/device/cpu/winograd/sizes.h"

#define INLINE static inline TARGET __attribute__((always_inline))

/* The most tiles of a group: twice as many sums, 2 vectors of weights and a number of V are in
 * registers. */
#define GROUP (LANES == 16 ? 14 : 6)

/* Floats from a point of the products to the next. */
#define M_POINT ((ptrdiff_t)GROUP * 2 * LANES)

/* Six values of a line at the points of a tile of 4, or five at those of a tile of 3. */
INLINE void line_values(const vector t[WINOGRAD_TILE], int size, float *out, ptrdiff_t stride)
{
    if (size == 4) {
        const vector even = t[4] - t[2], odd = t[3] - t[1];
        const vector a = v_fma(v_all(-4), t[2], t[4]), b = v_fma(v_all(-4), t[1], t[3]);
        v_store(out, v_fma(v_all(6), t[0] - t[2], v_all(1.5F) * even));
        v_store(out + stride, a + b);
        v_store(out + 2 * stride, a - b);
        v_store(out + 3 * stride, v_fma(v_all(2), odd, even));
        v_store(out + 4 * stride, v_fma(v_all(-2), odd, even));
        v_store(out + 5 * stride, v_fma(v_all(-24), odd, v_all(6) * (t[5] - t[3])));
    } else {
        const vector odd = t[3] - t[1];
        v_store(out, v_fma(v_all(6), t[0] - t[2], v_all(3) * odd));
        v_store(out + stride, v_all(3) * (t[1] + t[2] - odd));
        v_store(out + 2 * stride, v_fma(v_all(3), t[2] - t[1], -odd));
        v_store(out + 3 * stride, odd);
        v_store(out + 5 * stride, v_fma(v_all(-12), odd, v_all(6) * (t[4] - t[2])));
    }
}

/* A window: its pixels are LANES numbers apart, its inner rows `stride`. Of the first and the last
 * column it has only what the masks let through. */
struct look {
    const number *top, *inner, *bottom;
    ptrdiff_t stride;
    v_mask first, last;
};

/*
 * V of the window d for a tile of h x w: point p goes to out[p * stride]. Rows of points that share
 * subexpressions are computed together and the window is read a second time for the others, so that
 * nothing but the result has to be stored.
 */
INLINE void tile_values(const struct look *d, float *out, ptrdiff_t stride, const int h,
                        const int w)
{
    vector t[WINOGRAD_TILE], u[WINOGRAD_TILE];
    const ptrdiff_t row = WINOGRAD_TILE * stride;
    const int columns = w + 2;
#define COLUMN _Pragma("GCC unroll 6") for (int j = 0; j < columns; j++)
#define ROW(i) ((i) == 0 ? d->top : (i) == h + 1 ? d->bottom : d->inner + ((i)-1) * d->stride)
#define AT(i)                                                                                      \
    (j == 0             ? n_load_masked(ROW(i), d->first)                                          \
     : j == columns - 1 ? n_load_masked(ROW(i) + j * LANES, d->last)                               \
                        : n_load(ROW(i) + j * LANES))
    if (h == 4) {
        COLUMN t[j] = v_fma(v_all(6), AT(0) - AT(2), v_all(1.5F) * (AT(4) - AT(2)));
        line_values(t, w, out, stride);
        COLUMN
        {
            const vector a = v_fma(v_all(-4), AT(2), AT(4)), b = v_fma(v_all(-4), AT(1), AT(3));
            t[j] = a + b;
            u[j] = a - b;
        }
        line_values(t, w, out + row, stride);
        line_values(u, w, out + 2 * row, stride);
        COLUMN
        {
            const vector even = AT(4) - AT(2), odd = AT(3) - AT(1);
            t[j] = v_fma(v_all(2), odd, even);
            u[j] = v_fma(v_all(-2), odd, even);
        }
        line_values(t, w, out + 3 * row, stride);
        line_values(u, w, out + 4 * row, stride);
        COLUMN t[j] = v_fma(v_all(-24), AT(3) - AT(1), v_all(6) * (AT(5) - AT(3)));
        line_values(t, w, out + 5 * row, stride);
    } else {
        COLUMN t[j] = v_fma(v_all(6), AT(0) - AT(2), v_all(3) * (AT(3) - AT(1)));
        line_values(t, w, out, stride);
        COLUMN
        {
            const vector odd = AT(3) - AT(1);
            t[j] = v_all(3) * (AT(1) + AT(2) - odd);
            u[j] = v_fma(v_all(3), AT(2) - AT(1), -odd);
        }
        line_values(t, w, out + row, stride);
        line_values(u, w, out + 2 * row, stride);
        COLUMN
        {
            t[j] = AT(3) - AT(1);
            u[j] = v_fma(v_all(-12), t[j], v_all(6) * (AT(4) - AT(2)));
        }
        line_values(t, w, out + 3 * row, stride);
        line_values(u, w, out + 5 * row, stride);
    }
#undef AT
#undef ROW
#undef COLUMN
}

/* U of a row of points, from its three weights: to out[0], out[stride] and so on. */
INLINE void line_weights(const vector g[3], float *out, ptrdiff_t stride)
{
    const vector outer = g[0] + g[2], outer2 = v_fma(v_all(4), g[2], g[0]);
    v_store(out, g[0]);
    v_store(out + stride, outer + g[1]);
    v_store(out + 2 * stride, outer - g[1]);
    v_store(out + 3 * stride, v_fma(v_all(2), g[1], outer2));
    v_store(out + 4 * stride, v_fma(v_all(-2), g[1], outer2));
    v_store(out + 5 * stride, g[2]);
}

/* U of 3x3 weights g: point p goes to out[p * stride]. As in tile_values, nothing but the result
 * has to be stored. */
INLINE void tile_weights(const vector g[9], float *out, ptrdiff_t stride)
{
    const ptrdiff_t row = WINOGRAD_TILE * stride;
    vector t[3], u[3];
#define COLUMN _Pragma("GCC unroll 3") for (int j = 0; j < 3; j++)
    line_weights(g, out, stride);
    COLUMN
    {
        const vector outer = g[j] + g[6 + j];
        t[j] = outer + g[3 + j];
        u[j] = outer - g[3 + j];
    }
    line_weights(t, out + row, stride);
    line_weights(u, out + 2 * row, stride);
    COLUMN
    {
        const vector outer2 = v_fma(v_all(4), g[6 + j], g[j]);
        t[j] = v_fma(v_all(2), g[3 + j], outer2);
        u[j] = v_fma(v_all(-2), g[3 + j], outer2);
    }
    line_weights(t, out + 3 * row, stride);
    line_weights(u, out + 4 * row, stride);
    line_weights(g + 6, out + 5 * row, stride);
#undef COLUMN
}

/* The results of a line from its products; m[WINOGRAD_SKIPPED] is not read for a tile of 3. */
INLINE void line_results(const vector m[WINOGRAD_TILE], int size, vector y[WINOGRAD_OUT])
{
    const vector even = m[1] + m[2], odd = m[1] - m[2];
    if (size == 4) {
        const vector even2 = m[3] + m[4], odd2 = m[3] - m[4];
        y[0] = v_fma(v_all(0.25F), even2, m[0] - even);
        y[1] = v_fma(v_all(0.5F), odd2, -odd);
        y[2] = even2 - even;
        y[3] = v_fma(v_all(2), odd2, m[5] - odd);
    } else {
        y[0] = m[0] + even + m[3];
        y[1] = v_fma(v_all(2), m[3], odd);
        y[2] = v_fma(v_all(4), m[3], even) + m[5];
    }
}

/* The h x w results y of the products M. */
INLINE void tile_results(const float *m, int h, int w, vector y[WINOGRAD_OUT][WINOGRAD_OUT])
{
    vector line[WINOGRAD_OUT][WINOGRAD_TILE];
#pragma GCC unroll 6
    for (int j = 0; j < WINOGRAD_TILE; j++) {
        vector in[WINOGRAD_TILE], out[WINOGRAD_OUT];
        if (w == 3 && j == WINOGRAD_SKIPPED)
            continue;
#pragma GCC unroll 6
        for (int i = 0; i < WINOGRAD_TILE; i++)
            if (h == 4 || i != WINOGRAD_SKIPPED)
                in[i] = v_load(m + (i * WINOGRAD_TILE + j) * M_POINT);
        line_results(in, h, out);
#pragma GCC unroll 4
        for (int i = 0; i < h; i++)
            line[i][j] = out[i];
    }
#pragma GCC unroll 4
    for (int i = 0; i < h; i++)
        line_results(line[i], w, y[i]);
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The linear maps of winograd.h's tiles, after Lavin, Gray, Fast Algorithms for Convolutional
 * Neural Networks, 2015 (arXiv:1509.09308). Every lane of a vector is a channel of its own.
 * Part of winograd/blocked.h, winograd/fixed.h and winograd/transforms.h.
 *
 * Along a side, a tile of 4 interpolates at 0, 1/r, -1/r, r, -r and infinity, where r is the square
 * root of 2, a tile of 3 at all of them but -r. These points magnify roundings half as much as the
 * usual 1, -1, 2 and -2. Weights are taken at them and divided by what Lagrange's interpolation
 * divides by for a tile of 4, whatever the tile: the values of a tile of 3 make up for it.
 */

#include "engine/device/cpu/simd/stored.h"
#include "engine/device/cpu/simd/transpose.h"
#include "engine/device/cpu/winograd/kernels.h"

#ifdef NUMBER_BF16
typedef int16_t v_number; /* of V */
#else
typedef float v_number;
#endif

#define INLINE static inline TARGET __attribute__((always_inline))

/* The most tiles of a group: twice as many sums, 2 vectors of weights and a number of V are in
 * registers. */
#define GROUP   (LANES == 16 ? 14 : 6)
#define VECTORS 2

/* Floats from a point of the products to the next. */
#define M_POINT ((ptrdiff_t)GROUP * VECTORS * LANES)

/* Where a tile lies. */
struct place {
    long row;
    int y, x;      /* tile of its run in each direction */
    int top, left; /* its first pixel of the result */
};

INLINE struct place place_of(const struct winograd_group *group, int tile)
{
    const long per_row = (long)group->h.count * group->w.count, at = group->first + tile;
    struct place place = {.row = at / per_row,
                          .y = (int)(at % per_row) / group->w.count,
                          .x = (int)(at % per_row) % group->w.count};
    place.top = group->h.first + place.y * group->h.size;
    place.left = group->w.first + place.x * group->w.size;
    return place;
}

INLINE void place_next(const struct winograd_group *group, struct place *at)
{
    at->left += group->w.size;
    if (++at->x < group->w.count)
        return;
    at->x = 0;
    at->left = group->w.first;
    at->top += group->h.size;
    if (++at->y < group->h.count)
        return;
    at->y = 0;
    at->top = group->h.first;
    at->row++;
}

/* Where V of a tile goes, its points `stride` numbers apart. */
struct points {
    v_number *to;
    ptrdiff_t stride;
    const float *factors; /* by which those of 16 bits are multiplied, see fixed.h */
};

INLINE void put_point(const struct points *out, int point, vector value)
{
#ifdef NUMBER_BF16
    v_store_16(out->to + point * out->stride, value * v_all(out->factors[point]));
#else
    v_store(out->to + point * out->stride, value);
#endif
}

#define ROOT      1.41421356F /* of 2 */
#define HALF_ROOT 0.70710678F

/* Six values of a line at the points of a tile of 4, or five at those of a tile of 3: the points of
 * a row, the first of which is `point`. */
INLINE void line_values(const vector t[WINOGRAD_TILE], int size, const struct points *out,
                        int point)
{
    const vector even = v_fma(v_all(-0.5F), t[2], t[4]), odd = v_fma(v_all(-0.5F), t[1], t[3]);
    if (size == 4) {
        const vector a = v_fma(v_all(-2), t[2], t[4]), b = v_fma(v_all(-2), t[1], t[3]);
        put_point(out, point, v_fma(v_all(-2.5F), t[2], t[0] + t[4]));
        put_point(out, point + 1, v_fma(v_all(HALF_ROOT), b, a));
        put_point(out, point + 2, v_fma(v_all(-HALF_ROOT), b, a));
        put_point(out, point + 3, v_fma(v_all(ROOT), odd, even));
        put_point(out, point + 4, v_fma(v_all(-ROOT), odd, even));
        put_point(out, point + 5, v_fma(v_all(-2.5F), t[3], t[1] + t[5]));
    } else {
        const vector middle = v_all(-1.5F) * t[2];
        put_point(out, point, v_fma(v_all(ROOT), odd, v_fma(v_all(-2), t[2], t[0])));
        put_point(out, point + 1, v_fma(v_all(3 * HALF_ROOT), t[3] - t[1], middle));
        put_point(out, point + 2, v_fma(v_all(HALF_ROOT), t[3] + t[1], middle));
        put_point(out, point + 3, v_all(2 * ROOT) * odd);
        put_point(out, point + 5, v_fma(v_all(-ROOT), odd, even));
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
 * V of the window d for a tile of h x w. Rows of points that share subexpressions are computed
 * together and the window is read a second time for the others, so that nothing but the result has
 * to be stored.
 */
INLINE void tile_values(const struct look *d, const struct points *out, const int h, const int w)
{
    vector t[WINOGRAD_TILE], u[WINOGRAD_TILE];
    const int columns = w + 2;
#define ROW(i)     ((i)*WINOGRAD_TILE)
#define COLUMN     _Pragma("GCC unroll 6") for (int j = 0; j < columns; j++)
#define LINE_OF(i) ((i) == 0 ? d->top : (i) == h + 1 ? d->bottom : d->inner + ((i)-1) * d->stride)
#define AT(i)                                                                                      \
    (j == 0             ? n_load_masked(LINE_OF(i), d->first)                                      \
     : j == columns - 1 ? n_load_masked(LINE_OF(i) + j * LANES, d->last)                           \
                        : n_load(LINE_OF(i) + j * LANES))
    if (h == 4) {
        COLUMN t[j] = v_fma(v_all(-2.5F), AT(2), AT(0) + AT(4));
        line_values(t, w, out, ROW(0));
        COLUMN
        {
            const vector a = v_fma(v_all(-2), AT(2), AT(4)), b = v_fma(v_all(-2), AT(1), AT(3));
            t[j] = v_fma(v_all(HALF_ROOT), b, a);
            u[j] = v_fma(v_all(-HALF_ROOT), b, a);
        }
        line_values(t, w, out, ROW(1));
        line_values(u, w, out, ROW(2));
        COLUMN
        {
            const vector even = v_fma(v_all(-0.5F), AT(2), AT(4));
            const vector odd = v_fma(v_all(-0.5F), AT(1), AT(3));
            t[j] = v_fma(v_all(ROOT), odd, even);
            u[j] = v_fma(v_all(-ROOT), odd, even);
        }
        line_values(t, w, out, ROW(3));
        line_values(u, w, out, ROW(4));
        COLUMN t[j] = v_fma(v_all(-2.5F), AT(3), AT(1) + AT(5));
        line_values(t, w, out, ROW(5));
    } else {
        COLUMN
        {
            const vector odd = v_fma(v_all(-0.5F), AT(1), AT(3));
            t[j] = v_fma(v_all(ROOT), odd, v_fma(v_all(-2), AT(2), AT(0)));
            u[j] = v_all(2 * ROOT) * odd;
        }
        line_values(t, w, out, ROW(0));
        line_values(u, w, out, ROW(3));
        COLUMN
        {
            const vector middle = v_all(-1.5F) * AT(2);
            t[j] = v_fma(v_all(3 * HALF_ROOT), AT(3) - AT(1), middle);
            u[j] = v_fma(v_all(HALF_ROOT), AT(3) + AT(1), middle);
        }
        line_values(t, w, out, ROW(1));
        line_values(u, w, out, ROW(2));
        COLUMN
        {
            const vector odd = v_fma(v_all(-0.5F), AT(1), AT(3));
            t[j] = v_fma(v_all(-ROOT), odd, v_fma(v_all(-0.5F), AT(2), AT(4)));
        }
        line_values(t, w, out, ROW(5));
    }
#undef AT
#undef LINE_OF
#undef COLUMN
#undef ROW
}

/* The weights of a line at all points, from three. */
INLINE void line_weights(const vector g[3], vector u[WINOGRAD_TILE])
{
    const vector low = v_fma(v_all(-1.0F / 3), g[2], v_all(-2.0F / 3) * g[0]);
    const vector high = v_fma(v_all(1.0F / 3), g[2], v_all(1.0F / 6) * g[0]);
    u[0] = g[0];
    u[1] = v_fma(v_all(-2 * HALF_ROOT / 3), g[1], low);
    u[2] = v_fma(v_all(2 * HALF_ROOT / 3), g[1], low);
    u[3] = v_fma(v_all(ROOT / 6), g[1], high);
    u[4] = v_fma(v_all(-ROOT / 6), g[1], high);
    u[5] = g[2];
}

#define TAPS   9
#define SQUARE ((ptrdiff_t)LANES * LANES)

/* The weights [tap][in][out] between two blocks of channels; [tap][out][in] where they have to be
 * turned. */
static inline const float *weights_between(const struct winograd *job, int in_block, int out_block)
{
    const ptrdiff_t block = job->turned ? (ptrdiff_t)in_block * (job->out / LANES) + out_block
                                        : (ptrdiff_t)out_block * (job->in / LANES) + in_block;
    return job->weights + block * TAPS * SQUARE;
}

/* The same as [tap][in][out], if need be in `turned`. */
INLINE const float *taps_between(const struct winograd *job, int in_block, int out_block,
                                 float *turned)
{
    const float *from = weights_between(job, in_block, out_block);
    for (int tap = 0; tap < TAPS && job->turned; tap++)
        transpose_square(from + tap * SQUARE, turned + (TAPS - 1 - tap) * SQUARE);
    return job->turned ? turned : from;
}

/* U of 3x3 weights, which are SQUARE floats apart: point p goes to out[p * stride]. */
INLINE void tile_weights(const float *taps, float *out, ptrdiff_t stride)
{
    vector column[3][WINOGRAD_TILE];
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++)
        line_weights((const vector[3]){v_load(taps + j * SQUARE), v_load(taps + (3 + j) * SQUARE),
                                       v_load(taps + (6 + j) * SQUARE)},
                     column[j]);
#pragma GCC unroll 6
    for (int i = 0; i < WINOGRAD_TILE; i++) {
        vector u[WINOGRAD_TILE];
        line_weights((const vector[3]){column[0][i], column[1][i], column[2][i]}, u);
#pragma GCC unroll 6
        for (int j = 0; j < WINOGRAD_TILE; j++, out += stride)
            v_store(out, u[j]);
    }
}

/* The results of a line from its products; m[WINOGRAD_SKIPPED] is not read for a tile of 3. */
INLINE void line_results(const vector m[WINOGRAD_TILE], int size, vector y[WINOGRAD_OUT])
{
    const vector even = m[1] + m[2], odd = m[1] - m[2];
    if (size == 4) {
        const vector even2 = m[3] + m[4], odd2 = m[3] - m[4];
        y[0] = m[0] + even + even2;
        y[1] = v_fma(v_all(HALF_ROOT), odd, v_all(ROOT) * odd2);
        y[2] = v_fma(v_all(0.5F), even, even2 + even2);
        y[3] = v_fma(v_all(HALF_ROOT / 2), odd, v_fma(v_all(2 * ROOT), odd2, m[5]));
    } else {
        y[0] = m[0] + even + m[3];
        y[1] = v_fma(v_all(HALF_ROOT), odd, v_all(ROOT) * m[3]);
        y[2] = v_fma(v_all(0.5F), even, v_fma(v_all(2), m[3], m[5]));
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

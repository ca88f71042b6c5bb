/* SPDX-License-Identifier: MIT */

/* Winograd's algorithm on tiles and on rows of tiles, for lanes/winograd.h, which says which
 * points there are. */

#define POINTS LANES_POINTS

/* B' x, in place. */
INLINE void to_points(vector d[POINTS])
{
    const vector even1 = v_fma(v_all(-4.25F), d[4], d[2] + d[6]),
                 odd1 = v_fma(v_all(-4.25F), d[3], d[1] + d[5]);
    const vector even2 = v_fma(v_all(0.25F), d[2], v_fma(v_all(-1.25F), d[4], d[6])),
                 odd2 = v_fma(v_all(0.25F), d[1], v_fma(v_all(-1.25F), d[3], d[5]));
    const vector even3 = v_fma(v_all(4), d[2], v_fma(v_all(-5), d[4], d[6])),
                 odd3 = v_fma(v_all(4), d[1], v_fma(v_all(-5), d[3], d[5]));
    d[0] = v_fma(v_all(5.25F), d[4] - d[2], d[0] - d[6]);
    d[7] = v_fma(v_all(5.25F), d[3] - d[5], d[7] - d[1]);
    d[1] = even1 + odd1;
    d[2] = even1 - odd1;
    d[3] = v_fma(v_all(2), odd2, even2);
    d[4] = v_fma(v_all(-2), odd2, even2);
    d[5] = v_fma(v_all(0.5F), odd3, even3);
    d[6] = v_fma(v_all(-0.5F), odd3, even3);
}

/* B v, in place: the transposed of to_points. */
INLINE void from_points(vector v[POINTS])
{
    const vector even1 = v[1] + v[2], odd1 = v[1] - v[2], even2 = v[3] + v[4], odd2 = v[3] - v[4],
                 even3 = v[5] + v[6], odd3 = v[5] - v[6];
    v[1] = v_fma(v_all(2), odd3, v_fma(v_all(0.5F), odd2, odd1 - v[7]));
    v[2] = v_fma(v_all(4), even3, v_fma(v_all(0.25F), even2, v_fma(v_all(-5.25F), v[0], even1)));
    v[3] = v_fma(v_all(-2.5F), odd2 + odd3, v_fma(v_all(-4.25F), odd1, v_all(5.25F) * v[7]));
    v[4] = v_fma(v_all(-5), even3,
                 v_fma(v_all(-1.25F), even2, v_fma(v_all(-4.25F), even1, v_all(5.25F) * v[0])));
    v[5] = v_fma(v_all(0.5F), odd3, v_fma(v_all(2), odd2, v_fma(v_all(-5.25F), v[7], odd1)));
    v[6] = even1 + even2 + even3 - v[0];
}

/* y = A' v, `tile` results. */
INLINE void to_results(const vector v[POINTS], vector *y, const int tile)
{
    const vector part[2][3] = {{v[1] + v[2], v[3] + v[4], v[5] + v[6]},
                               {v[1] - v[2], v[3] - v[4], v[5] - v[6]}};
#pragma GCC unroll 8
    for (int j = 0; j < tile; j++) {
        const vector *p = part[j % 2];
        const float power = (float)(1 << j);
        y[j] = v_fma(v_all(1 / power), p[2], v_fma(v_all(power), p[1], p[0]));
    }
    y[0] += v[0];
    y[tile - 1] += v[7];
}

/* v = A y: the transposed of to_results. */
INLINE void from_results(const vector *y, vector v[POINTS], const int tile)
{
    vector part[2][3] = {{y[0], y[0], y[0]}, {y[1], v_all(2) * y[1], v_all(0.5F) * y[1]}};
#pragma GCC unroll 8
    for (int j = 2; j < tile; j++) {
        vector *p = part[j % 2];
        const float power = (float)(1 << j);
        p[0] += y[j];
        p[1] = v_fma(v_all(power), y[j], p[1]);
        p[2] = v_fma(v_all(1 / power), y[j], p[2]);
    }
    v[0] = y[0];
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++) {
        v[2 * i + 1] = part[0][i] + part[1][i];
        v[2 * i + 2] = part[0][i] - part[1][i];
    }
    v[7] = y[tile - 1];
}

/* `most` vectors, of which `left` are there and the others zero. */
INLINE void load_some(const float *from, int left, vector *v, const int most)
{
#pragma GCC unroll 8
    for (int k = 0; k < most; k++)
        v[k] = left >= most || k < left ? v_load(from + k * LANES) : v_all(0);
}

/* Only columns [0, width), where from[0] is for `column`. */
INLINE void store_some(const vector *v, int column, int width, float *to, const int most)
{
    const bool whole = column >= 0 && column + most <= width;
#pragma GCC unroll 8
    for (int k = 0; k < most; k++)
        if (whole || (column + k >= 0 && column + k < width))
            v_store(to + (column + k) * LANES, v[k]);
}

/* Rows of tiles; points lie `point` floats apart. */

static TARGET void row_to_points(const float *x, int width, int tile, int tiles, ptrdiff_t point,
                                 float *to)
{
    for (int t = 0; t < tiles; t++, x += tile * LANES, to += LANES, width -= tile) {
        vector d[POINTS];
        load_some(x, width, d, POINTS);
        to_points(d);
#pragma GCC unroll 8
        for (int k = 0; k < POINTS; k++)
            v_store(to + k * point, d[k]);
    }
}

INLINE void row_from_results(const float *y, int width, int tiles, ptrdiff_t point, float *to,
                             const int tile)
{
    for (int t = 0; t < tiles; t++, y += tile * LANES, to += LANES, width -= tile) {
        vector part[POINTS], v[POINTS];
        load_some(y, width, part, tile);
        from_results(part, v, tile);
#pragma GCC unroll 8
        for (int k = 0; k < POINTS; k++)
            v_store(to + k * point, v[k]);
    }
}

INLINE void row_to_results(const float *from, ptrdiff_t point, int tiles, int width, float *y,
                           const int tile)
{
    for (int t = 0; t < tiles; t++, from += LANES) {
        vector v[POINTS], part[POINTS];
#pragma GCC unroll 8
        for (int k = 0; k < POINTS; k++)
            v[k] = v_load(from + k * point);
        to_results(v, part, tile);
        store_some(part, t * tile, width, y, tile);
    }
}

/* Tiles of x overlap: what one leaves to the next is carried along. x begins after the border, of
 * `border` columns. */
INLINE void row_from_points(const float *from, ptrdiff_t point, int tiles, int border, int width,
                            float *x, const int tile)
{
    vector carried[POINTS];
    int column = -border;
#pragma GCC unroll 8
    for (int k = 0; k < POINTS - tile; k++)
        carried[k] = v_all(0);
    for (int t = 0; t < tiles; t++, from += LANES, column += tile) {
        vector v[POINTS];
#pragma GCC unroll 8
        for (int k = 0; k < POINTS; k++)
            v[k] = v_load(from + k * point);
        from_points(v);
#pragma GCC unroll 8
        for (int k = 0; k < POINTS - tile; k++)
            v[k] += carried[k];
        store_some(v, column, width, x, tile);
#pragma GCC unroll 8
        for (int k = 0; k < POINTS - tile; k++)
            carried[k] = v[tile + k];
    }
    store_some(carried, column, width, x, POINTS - tile);
}

/* SPDX-License-Identifier: MIT */

/*
 * The linear maps of Winograd's convolutions on tiles of 6x6, F(4x4,3x3) for the passes that give
 * 4x4 values and F(3x3,4x4) for the one that gives 3x3 weights, with the interpolation points 0, 1,
 * -1, 2, -2 and infinity: Lavin, Gray, Fast Algorithms for Convolutional Neural Networks, 2015
 * (arXiv:1509.09308). Every lane of a vector is a channel of its own.
 *
 * Included by a file that has chosen its instruction set: see kernels_blocked.h for what it defines
 * (vector_avx512.h, vector_avx2.h).
 */

#define WINOGRAD_TILE   6 /* pixels of the input in each direction */
#define WINOGRAD_OUT    4 /* of the output */
#define WINOGRAD_POINTS 36

/* An image of one block of channels, [h][w][LANES]. */
struct winograd_image {
    const float *data;
    int h, w;
};

/* A window of WINOGRAD_TILE rows; its pixels are LANES floats apart. */
struct winograd_window {
    const float *row[WINOGRAD_TILE];
};

/*
 * The window whose first pixel is (top, left), which may lie outside the image, as may its last:
 * what is not there is zero. Rows that lie inside point into the image; if columns do not, all is
 * copied to `copy`, room for WINOGRAD_POINTS vectors.
 */
static inline TARGET void winograd_look(const struct winograd_image *image, int top, int left,
                                        float *copy, struct winograd_window *window)
{
    static const float zeros[WINOGRAD_TILE * LANES];
    const bool whole = left >= 0 && left + WINOGRAD_TILE <= image->w;
#pragma GCC unroll 6
    for (int i = 0; i < WINOGRAD_TILE; i++) {
        const bool inside = (unsigned)(top + i) < (unsigned)image->h;
        window->row[i] =
            inside ? image->data + ((ptrdiff_t)(top + i) * image->w + left) * LANES : zeros;
    }
    if (whole)
        return;
    for (int j = 0; j < WINOGRAD_TILE; j++) {
        const bool there = (unsigned)(left + j) < (unsigned)image->w;
#pragma GCC unroll 6
        for (int i = 0; i < WINOGRAD_TILE; i++) {
            const float *pixel = there ? window->row[i] + j * LANES : zeros;
            v_store(copy + (i * WINOGRAD_TILE + j) * LANES, v_load(pixel));
        }
    }
    for (int i = 0; i < WINOGRAD_TILE; i++)
        window->row[i] = copy + i * WINOGRAD_TILE * LANES;
}

/* A row of V: out[j * stride] = (B^T applied to t[0..5])[j]. */
static inline TARGET void winograd_input_row(const vector t[WINOGRAD_TILE], float *out,
                                             size_t stride)
{
    const vector even = t[4] - t[2], odd = t[3] - t[1];
    const vector a = v_fma(v_all(-4), t[2], t[4]), b = v_fma(v_all(-4), t[1], t[3]);
    v_store(out, v_fma(v_all(4), t[0] - t[2], even));
    v_store(out + stride, a + b);
    v_store(out + 2 * stride, a - b);
    v_store(out + 3 * stride, v_fma(v_all(2), odd, even));
    v_store(out + 4 * stride, v_fma(v_all(-2), odd, even));
    v_store(out + 5 * stride, v_fma(v_all(-4), odd, t[5] - t[3]));
}

/*
 * V = B^T d B of the window d: point (i, j) goes to out[(i * WINOGRAD_TILE + j) * stride]. The rows
 * that share subexpressions are made together and the window is read again for the others, so that
 * nothing but the result has to be stored.
 */
static inline TARGET void winograd_input(const struct winograd_window *d, float *out, size_t stride)
{
    vector t[WINOGRAD_TILE], u[WINOGRAD_TILE];
    const size_t row = WINOGRAD_TILE * stride;
#define AT(i) v_load(d->row[i] + j * LANES)
#pragma GCC unroll 6
    for (int j = 0; j < WINOGRAD_TILE; j++)
        t[j] = v_fma(v_all(4), AT(0) - AT(2), AT(4) - AT(2));
    winograd_input_row(t, out, stride);
#pragma GCC unroll 6
    for (int j = 0; j < WINOGRAD_TILE; j++) {
        const vector a = v_fma(v_all(-4), AT(2), AT(4)), b = v_fma(v_all(-4), AT(1), AT(3));
        t[j] = a + b;
        u[j] = a - b;
    }
    winograd_input_row(t, out + row, stride);
    winograd_input_row(u, out + 2 * row, stride);
#pragma GCC unroll 6
    for (int j = 0; j < WINOGRAD_TILE; j++) {
        const vector even = AT(4) - AT(2), odd = AT(3) - AT(1);
        t[j] = v_fma(v_all(2), odd, even);
        u[j] = v_fma(v_all(-2), odd, even);
    }
    winograd_input_row(t, out + 3 * row, stride);
    winograd_input_row(u, out + 4 * row, stride);
#pragma GCC unroll 6
    for (int j = 0; j < WINOGRAD_TILE; j++)
        t[j] = v_fma(v_all(-4), AT(3) - AT(1), AT(5) - AT(3));
    winograd_input_row(t, out + 5 * row, stride);
#undef AT
}

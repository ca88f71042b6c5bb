/* SPDX-License-Identifier: MIT */

/*
 * Convolutions of lanes/kernels.h by Winograd's algorithm along rows: y = A' ((G w) * (B' x)) makes
 * a tile of results side by side from 8 products instead of `tile` times `kernel_w`, from each row
 * of the kernel. The points are 0, 1, -1, 2, -2, 1/2, -1/2 and infinity, whatever the kernel's
 * width is (S. Winograd, "Arithmetic complexity of computations", 1980; A. Lavin, S. Gray, "Fast
 * algorithms for convolutional neural networks", 2015). Each gradient is the transposed of the
 * same: of x by A, products and B, of w by B', A, products and G'. Seen from one point, there is a
 * convolution with a kernel of one column, over tiles instead of columns.
 *
 * All three matrices follow from the points. The column of A' and the row of G for a point a hold
 * its powers 1, a, a^2, ...; the row of B' the coefficients of N(x), the product of x - b over all
 * other finite points b, with the sign turned for 0; and G is divided by N(a). The column and the
 * rows of infinity have a 1 at the highest power, and B' the product over all finite points. With
 * (x^2 - 1)(x^2 - 4)(x^2 - 1/4) = x^6 - 5.25 x^4 + 5.25 x^2 - 1 this makes N(1) = -9/2, N(2) = 90
 * and N(1/2) = 45/32, and a point and its negative share the even and the odd part of everything.
 */

#include "engine/device/cpu/lanes/tiles.h"

/* --- images as points --- */

/* Some rows of an image: [POINTS][c][rows][tiles] vectors. */
struct points {
    float *at;
    int c, rows, tiles;
    int first, end; /* the image's rows that it has now */
};

/* What they are made of: x with its border, or dy without. */
struct points_source {
    const float *at;
    ptrdiff_t plane, row; /* floats */
    int width, tile;
    bool results;
};

static inline ptrdiff_t points_row(const struct points *p)
{
    return (ptrdiff_t)p->tiles * LANES;
}

static inline ptrdiff_t points_plane(const struct points *p)
{
    return p->rows * points_row(p);
}

static inline ptrdiff_t points_point(const struct points *p)
{
    return p->c * points_plane(p);
}

static TARGET void make_points(const struct points *p, const struct points_source *s,
                               const float *from, float *to)
{
    if (!s->results)
        row_to_points(from, s->width, s->tile, p->tiles, points_point(p), to);
    else if (s->tile == 4)
        row_from_results(from, s->width, p->tiles, points_point(p), to, 4);
    else
        row_from_results(from, s->width, p->tiles, points_point(p), to, 6);
}

/* Rows [first, end), at most as many as there is place for; those that it has are moved. */
static TARGET void hold_points(struct points *p, const struct points_source *s, int first, int end)
{
    const ptrdiff_t row = points_row(p);
    const int kept = first < p->end ? p->end - first : 0;
    if (kept > 0 && first > p->first)
        for (int i = 0; i < POINTS * p->c; i++) {
            float *to = p->at + i * points_plane(p);
            memmove(to, to + (first - p->first) * row, (size_t)(kept * row) * sizeof *to);
        }
    for (int h = first + kept; h < end; h++)
        for (int c = 0; c < p->c; c++)
            make_points(p, s, s->at + c * s->plane + h * s->row,
                        p->at + c * points_plane(p) + (h - first) * row);
    p->first = first;
    p->end = end;
}

static struct points_source points_of_x(const struct lanes_conv *c, const float *x)
{
    return (struct points_source){.at = x,
                                  .plane = lanes_plane(&c->x) * LANES,
                                  .row = lanes_row(&c->x) * LANES,
                                  .width = (int)lanes_row(&c->x),
                                  .tile = c->tile};
}

/* dy: after its border. */
static struct points_source points_of_dy(const struct lanes_conv *c, const float *dy)
{
    return (struct points_source){.at = dy,
                                  .plane = lanes_plane(&c->y) * LANES,
                                  .row = lanes_row(&c->y) * LANES,
                                  .width = c->y.w,
                                  .tile = c->tile,
                                  .results = true};
}

/* --- the three directions --- */

/* One row of the result, from row `from` of the points on; m: what the products give. */
static TARGET void tiled_row(const struct lanes_conv *c, const struct points *p, int from,
                             const float *w, const float *bias, float *m, float *y)
{
    const int out = c->y.c;
    const struct lanes_conv point = {.y = {.c = out, .w = p->tiles}};
    const struct lanes_product t = {.planes = p->c,
                                    .rows = 1,
                                    .columns = c->kernel_h,
                                    .x_plane = points_plane(p),
                                    .x_column = points_row(p),
                                    .w_plane = (ptrdiff_t)p->c * c->kernel_h,
                                    .y_output = points_row(p)};
    const ptrdiff_t count = out * t.w_plane, step = out * points_row(p);
    for (int k = 0; k < POINTS; k++) /* what is added at 1 is added to all results */
        conv_row(&point, &t, p->at + k * points_point(p) + from * points_row(p), w + k * count,
                 k == 1 ? bias : NULL, m + k * step);
    for (int o = 0; o < out; o++) {
        float *to = y + o * lanes_plane(&c->y) * LANES;
        const float *part = m + o * points_row(p);
        if (c->tile == 4)
            row_to_results(part, step, p->tiles, c->y.w, to, 4);
        else
            row_to_results(part, step, p->tiles, c->y.w, to, 6);
        act_in_place(c->act, to, c->y.w);
    }
}

static TARGET void conv_tiled(const struct lanes_conv *c, const float *x, const float *w,
                              const float *bias, float *y, float *scratch)
{
    const int band = lanes_band(c, LANES, c->x.c, 0), halo = c->kernel_h - 1;
    const struct points_source source = points_of_x(c, x);
    struct points p = {.at = scratch, .c = c->x.c, .rows = band + halo, .tiles = lanes_tiles(c)};
    float *m = scratch + POINTS * points_point(&p);
    y += lanes_first(&c->y) * LANES;
    for (int h = 0; h < c->y.h; h++) {
        if (h % band == 0)
            hold_points(&p, &source, h, h + (c->y.h - h < band ? c->y.h - h : band) + halo);
        tiled_row(c, &p, h - p.first, w, bias, m, y + h * lanes_row(&c->y) * LANES);
    }
}

static TARGET void weights_tiled(const struct lanes_conv *c, const float *x, const float *dy,
                                 float *sums, float *scratch)
{
    const int kernel_h = c->kernel_h, band = lanes_band(c, LANES, c->x.c, OUTER_OUTPUTS);
    const ptrdiff_t count = (ptrdiff_t)c->x.c * kernel_h * LANES;
    const struct points_source from_x = points_of_x(c, x);
    struct points p = {
        .at = scratch, .c = c->x.c, .rows = band + kernel_h - 1, .tiles = lanes_tiles(c)};
    dy += lanes_first(&c->y) * LANES;
    for (int h = 0, rows; h < c->y.h; h += rows) {
        rows = c->y.h - h < band ? c->y.h - h : band;
        hold_points(&p, &from_x, h, h + rows + kernel_h - 1);
        for (int o = 0, size; o < c->y.c; o += size) {
            size = lanes_conv_block(c->y.c, OUTER_OUTPUTS, o);
            struct points d = {.at = scratch + POINTS * points_point(&p),
                               .c = size,
                               .rows = band,
                               .tiles = p.tiles};
            const struct points_source from_dy =
                points_of_dy(c, dy + o * lanes_plane(&c->y) * LANES + h * lanes_row(&c->y) * LANES);
            const struct outer t = {.height = 1,
                                    .width = rows * p.tiles,
                                    .x_tap = points_row(&p),
                                    .dy_output = points_plane(&d),
                                    .sums_output = count};
            hold_points(&d, &from_dy, 0, rows);
            for (int k = 0; k < POINTS; k++)
                for (int i = 0; i < c->x.c; i++)
                    for (int tap = 0, taken; tap < kernel_h; tap += taken) {
                        taken = lanes_conv_block(kernel_h, MOST_TAPS, tap);
                        outer(&t,
                              p.at + k * points_point(&p) + i * points_plane(&p) +
                                  tap * points_row(&p),
                              d.at + k * points_point(&d),
                              sums + (k * c->y.c + o) * count + (i * kernel_h + tap) * LANES, size,
                              taken);
                    }
        }
    }
}

/* One row of dx: `row` counts from the border on. */
static TARGET void tiled_data_row(const struct lanes_conv *c, const struct points *d, int row,
                                  const float *w, float *m, float *dx)
{
    const int in = c->x.c, top = first_tap(row, c->y.h);
    const ptrdiff_t step = in * points_row(d), count = (ptrdiff_t)in * d->c * c->kernel_h;
    struct lanes_product t = {.planes = d->c,
                              .rows = 1,
                              .columns = end_of_taps(row, c->kernel_h) - top,
                              .x_plane = points_plane(d),
                              .x_column = -points_row(d),
                              .y_output = points_row(d)};
    for (int k = 0; k < POINTS; k++) {
        const float *dy = d->at + k * points_point(d) + (row - top - d->first) * points_row(d);
        for (int i = 0, size; i < in; i += size) {
            size = lanes_conv_block(in, CONV_OUTPUTS, i);
            t.w_plane = (ptrdiff_t)c->kernel_h * size;
            t.w_column = size;
            for (int j = 0, vectors; j < d->tiles; j += vectors) {
                vectors = vectors_at_once(d->tiles - j);
                product(&t, dy + j * LANES,
                        w + k * count + (ptrdiff_t)i * d->c * c->kernel_h + top * size, NULL,
                        m + k * step + i * points_row(d) + j * LANES, size, vectors);
            }
        }
    }
    for (int i = 0; i < in; i++) {
        float *to = dx + i * lanes_plane(&c->x) * LANES;
        const float *part = m + i * points_row(d);
        if (c->tile == 4)
            row_from_points(part, step, d->tiles, c->x.pad_w, c->x.w, to, 4);
        else
            row_from_points(part, step, d->tiles, c->x.pad_w, c->x.w, to, 6);
    }
}

static TARGET void data_tiled(const struct lanes_conv *c, const float *dy, const float *w,
                              float *dx, float *scratch)
{
    const int band = lanes_band(c, LANES, c->y.c, 0), halo = c->kernel_h - 1;
    const struct points_source source = points_of_dy(c, dy + lanes_first(&c->y) * LANES);
    struct points d = {.at = scratch, .c = c->y.c, .rows = band + halo, .tiles = lanes_tiles(c)};
    float *m = scratch + POINTS * points_point(&d);
    dx += lanes_first(&c->x) * LANES;
    for (int h = 0; h < c->x.h; h++) {
        const int row = h + c->x.pad_h, first = row - halo, end = row + band;
        if (h % band == 0)
            hold_points(&d, &source, first > 0 ? first : 0, end < c->y.h ? end : c->y.h);
        tiled_data_row(c, &d, row, w, m, dx + h * lanes_row(&c->x) * LANES);
    }
}

/* --- direct or in tiles --- */

static TARGET void conv(const struct lanes_conv *c, const float *x, const float *w,
                        const float *bias, float *y, float *scratch)
{
    clear_border(&c->y, y);
    if (c->tile > 0)
        conv_tiled(c, x, w, bias, y, scratch);
    else
        conv_plain(c, x, w, bias, y);
}

static TARGET void conv_weights(const struct lanes_conv *c, const float *x, const float *dy,
                                float *sums, float *scratch)
{
    if (c->tile > 0)
        weights_tiled(c, x, dy, sums, scratch);
    else
        weights_plain(c, x, dy, sums);
}

static TARGET void conv_data(const struct lanes_conv *c, const float *dy, const float *w, float *dx,
                             float *scratch)
{
    if (c->tile > 0)
        data_tiled(c, dy, w, dx, scratch);
    else
        data_plain(c, dy, w, dx);
}

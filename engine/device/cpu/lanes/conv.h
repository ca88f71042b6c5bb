/* SPDX-License-Identifier: MIT */

/* Convolutions of lanes/kernels.h, plainly. */

static TARGET void clear_border(const struct lanes_image *i, float *x)
{
    const ptrdiff_t row = lanes_row(i) * LANES, plane = lanes_plane(i) * LANES;
    const size_t edge = (size_t)(i->pad_h * row) * sizeof *x,
                 side = (size_t)i->pad_w * LANES * sizeof *x;
    if (i->pad_h == 0 && i->pad_w == 0)
        return;
    for (int c = 0; c < i->c; c++) {
        float *p = x + c * plane;
        memset(p, 0, edge);
        memset(p + (i->pad_h + i->h) * row, 0, edge);
        for (int h = 0; h < i->h; h++) {
            float *q = p + (i->pad_h + h) * row;
            memset(q, 0, side);
            memset(q + (i->pad_w + i->w) * LANES, 0, side);
        }
    }
}

static TARGET void act_in_place(enum lanes_act act, float *x, int count)
{
    if (act != LANES_NONE)
        act_of(act, x, count, x);
}

/* One row of the result, all channels. */
static TARGET void conv_row(const struct lanes_conv *c, const struct lanes_product *t,
                            const float *x, const float *w, const float *bias, float *y)
{
    const int out = c->y.c;
    struct lanes_product block = *t;
    for (int o = 0, size; o < out; o += size) {
        size = lanes_conv_block(out, CONV_OUTPUTS, o);
        block.w_column = size;
        block.w_row = (ptrdiff_t)t->columns * size;
        block.w_plane = t->rows * block.w_row;
        for (int i = 0, vectors; i < c->y.w; i += vectors) {
            vectors = vectors_at_once(c->y.w - i);
            product(&block, x + i * LANES, w + o * t->w_plane, bias ? bias + o : NULL,
                    y + o * t->y_output + i * LANES, size, vectors);
        }
    }
    for (int o = 0; o < out; o++)
        act_in_place(c->act, y + o * t->y_output, c->y.w);
}

static TARGET void conv_plain(const struct lanes_conv *c, const float *x, const float *w,
                              const float *bias, float *y)
{
    const struct lanes_product t = {
        .planes = c->x.c,
        .rows = c->kernel_h,
        .columns = c->kernel_w,
        .x_plane = lanes_plane(&c->x) * LANES,
        .x_row = lanes_row(&c->x) * LANES,
        .x_column = LANES,
        .w_plane = (ptrdiff_t)c->x.c * c->kernel_h * c->kernel_w,
        .y_output = lanes_plane(&c->y) * LANES,
    };
    float *to = y + lanes_first(&c->y) * LANES;
    for (int h = 0; h < c->y.h; h++)
        conv_row(c, &t, x + h * t.x_row, w, bias, to + h * lanes_row(&c->y) * LANES);
}

/* Of dy at a time: with the rows of x that it is multiplied with it fits the first cache. */
#define BAND_BYTES 24576

static TARGET void weights_plain(const struct lanes_conv *c, const float *x, const float *dy,
                                 float *sums)
{
    const ptrdiff_t taps = (ptrdiff_t)c->kernel_h * c->kernel_w, plane = lanes_plane(&c->x) * LANES;
    const int row_bytes = OUTER_OUTPUTS * c->y.w * LANES * (int)sizeof(float);
    const int band = row_bytes < BAND_BYTES ? BAND_BYTES / row_bytes : 1;
    struct outer t = {.width = c->y.w,
                      .x_row = lanes_row(&c->x) * LANES,
                      .dy_row = lanes_row(&c->y) * LANES,
                      .x_tap = LANES,
                      .dy_output = lanes_plane(&c->y) * LANES,
                      .sums_output = c->x.c * taps * LANES};
    dy += lanes_first(&c->y) * LANES;
    for (int h = 0; h < c->y.h; h += t.height) {
        t.height = c->y.h - h < band ? c->y.h - h : band;
        for (int o = 0, size; o < c->y.c; o += size) {
            size = lanes_conv_block(c->y.c, OUTER_OUTPUTS, o);
            for (int i = 0; i < c->x.c; i++)
                for (int tap = 0, taken; tap < taps; tap += taken) {
                    const int kh = tap / c->kernel_w, kw = tap % c->kernel_w;
                    taken = lanes_conv_block(c->kernel_w, MOST_TAPS, kw);
                    outer(&t, x + i * plane + (h + kh) * t.x_row + kw * LANES,
                          dy + o * t.dy_output + h * t.dy_row,
                          sums + o * t.sums_output + (i * taps + tap) * LANES, size, taken);
                }
        }
    }
}

/* The taps k of a window of `kernel` that lead from place `at` of x to a place of dy. */
static inline int first_tap(int at, int size)
{
    return at - size + 1 > 0 ? at - size + 1 : 0;
}

static inline int end_of_taps(int at, int kernel)
{
    return at + 1 < kernel ? at + 1 : kernel;
}

/* How many vectors from column `at` on meet the same taps. */
static inline int alike_columns(const struct lanes_conv *c, int at, int left)
{
    return at >= c->kernel_w - 1 && at < c->y.w
               ? vectors_at_once(left < c->y.w - at ? left : c->y.w - at)
               : 1;
}

/* One row of dx, all channels: `row` counts from the border of x on. */
static TARGET void conv_data_row(const struct lanes_conv *c, int row, const float *dy,
                                 const float *w, ptrdiff_t dx_plane, float *dx)
{
    const ptrdiff_t dy_row = lanes_row(&c->y) * LANES, taps = (ptrdiff_t)c->kernel_h * c->kernel_w;
    const int top = first_tap(row, c->y.h);
    for (int i = 0, size; i < c->x.c; i += size) {
        size = lanes_conv_block(c->x.c, CONV_OUTPUTS, i);
        struct lanes_product t = {.planes = c->y.c,
                                  .rows = end_of_taps(row, c->kernel_h) - top,
                                  .x_plane = lanes_plane(&c->y) * LANES,
                                  .x_row = -dy_row,
                                  .x_column = -LANES,
                                  .w_plane = taps * size,
                                  .w_row = (ptrdiff_t)c->kernel_w * size,
                                  .w_column = size,
                                  .y_output = dx_plane};
        for (int j = 0, vectors; j < c->x.w; j += vectors) {
            const int at = j + c->x.pad_w, left = first_tap(at, c->y.w);
            vectors = alike_columns(c, at, c->x.w - j);
            t.columns = end_of_taps(at, c->kernel_w) - left;
            product(&t, dy + (row - top) * dy_row + (at - left) * LANES,
                    w + i * c->y.c * taps + (top * c->kernel_w + left) * size, NULL,
                    dx + i * dx_plane + j * LANES, size, vectors);
        }
    }
}

static TARGET void data_plain(const struct lanes_conv *c, const float *dy, const float *w,
                              float *dx)
{
    const ptrdiff_t plane = lanes_plane(&c->x) * LANES, row = lanes_row(&c->x) * LANES;
    dy += lanes_first(&c->y) * LANES;
    dx += lanes_first(&c->x) * LANES;
    for (int h = 0; h < c->x.h; h++)
        conv_data_row(c, h + c->x.pad_h, dy, w, plane, dx + h * row);
}

/* SPDX-License-Identifier: MIT */

/* Pooling of lanes/kernels.h. */

/* The part of a window that lies inside: [begin, end) of its places in one direction. */
struct extent {
    int begin, end;
};

static inline struct extent window(int at, int kernel, int stride, int pad, int size)
{
    int begin = at * stride - pad, end = begin + kernel;
    return (struct extent){begin < 0 ? 0 : begin, end > size ? size : end};
}

/* One window, from the first number of its channel on. */
static inline TARGET vector pool_window(const struct lanes_pool *p, const float *x,
                                        struct extent rows, struct extent columns)
{
    const ptrdiff_t row = lanes_row(&p->x);
    vector most = v_load(x + (rows.begin * row + columns.begin) * LANES), sum = v_all(0);
    for (int h = rows.begin; h < rows.end; h++) {
        for (int w = columns.begin; w < columns.end; w++) {
            vector v = v_load(x + (h * row + w) * LANES);
            most = v_most(v, most);
            sum += v;
        }
    }
    if (p->max)
        return most;
    return sum * v_all(1 / ((float)p->kernel_h * (float)p->kernel_w));
}

/* --- windows of 2x2 that cover all of x: what most networks have --- */

static inline bool is_in_fours(const struct lanes_pool *p)
{
    return lanes_pool_is_simple(p) && p->kernel_h == 2 && p->kernel_w == 2 &&
           p->x.h == 2 * p->y.h && p->x.w == 2 * p->y.w;
}

/* A row of y from two rows of x, `row` floats apart. */
INLINE void pool_fours(const float *x, ptrdiff_t row, int count, float *y, const bool max)
{
    for (int i = 0; i < count; i++, x += 2 * LANES, y += LANES) {
        const vector a = v_load(x), b = v_load(x + LANES), c = v_load(x + row),
                     d = v_load(x + row + LANES);
        if (max)
            v_store(y, v_most(d, v_most(c, v_most(b, a))));
        else
            v_store(y, (a + b + c + d) * v_all(0.25F));
    }
}

/* The first of equal maxima takes it all. */
INLINE vector back_fours(const float *x, ptrdiff_t row, int count, const float *y, const float *dy,
                         float *dx, const bool max, const enum lanes_act act)
{
    const ptrdiff_t places[] = {0, LANES, row, row + LANES};
    vector sum = v_all(0);
    for (int i = 0; i < count; i++) {
        const vector result = v_load(y + i * LANES);
        vector d = v_load(dy + i * LANES);
        if (!max)
            d = d * v_all(0.25F);
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            const ptrdiff_t at = 2 * i * LANES + places[k];
            const vector v = v_load(x + at);
            const vector part = act_back(act, v, max ? v_keep_equal(v, result, d) : d);
            if (max)
                d = v_keep_unequal(v, result, d);
            v_store(dx + at, part);
            sum += part;
        }
    }
    return sum;
}

static TARGET vector back_row_in_fours(const struct lanes_pool *p, const float *x, const float *y,
                                       const float *dy, float *dx, enum lanes_act act)
{
    const ptrdiff_t row = lanes_row(&p->x) * LANES;
    const int count = p->y.w;
    switch (act) {
    case LANES_NONE:
        return p->max ? back_fours(x, row, count, y, dy, dx, true, LANES_NONE)
                      : back_fours(x, row, count, y, dy, dx, false, LANES_NONE);
    case LANES_RELU:
        return p->max ? back_fours(x, row, count, y, dy, dx, true, LANES_RELU)
                      : back_fours(x, row, count, y, dy, dx, false, LANES_RELU);
    case LANES_SIGMOID:
        return p->max ? back_fours(x, row, count, y, dy, dx, true, LANES_SIGMOID)
                      : back_fours(x, row, count, y, dy, dx, false, LANES_SIGMOID);
    case LANES_TANH:
        break;
    }
    return p->max ? back_fours(x, row, count, y, dy, dx, true, LANES_TANH)
                  : back_fours(x, row, count, y, dy, dx, false, LANES_TANH);
}

/* --- any windows --- */

static TARGET void pool_row(const struct lanes_pool *p, int h, const float *x, float *y)
{
    const struct extent rows = window(h, p->kernel_h, p->stride_h, p->pad_h, p->x.h);
    const ptrdiff_t row = lanes_row(&p->x) * LANES;
    if (is_in_fours(p) && p->max)
        pool_fours(x + 2 * h * row, row, p->y.w, y, true);
    else if (is_in_fours(p))
        pool_fours(x + 2 * h * row, row, p->y.w, y, false);
    else
        for (int w = 0; w < p->y.w; w++)
            v_store(y + w * LANES,
                    pool_window(p, x, rows, window(w, p->kernel_w, p->stride_w, p->pad_w, p->x.w)));
}

static TARGET void pool(const struct lanes_pool *p, const float *x, float *y)
{
    clear_border(&p->y, y);
    for (int c = 0; c < p->y.c; c++) {
        const float *px = x + (c * lanes_plane(&p->x) + lanes_first(&p->x)) * LANES;
        for (int h = 0; h < p->y.h; h++) {
            float *py =
                y + (c * lanes_plane(&p->y) + lanes_first(&p->y) + h * lanes_row(&p->y)) * LANES;
            pool_row(p, h, px, py);
        }
    }
}

/* Where a channel's numbers lie in the backward pass. */
struct pool_channel {
    const float *x;
    float *dx;
    ptrdiff_t row; /* vectors */
};

/* The gradient d of one window whose result was y, added to dx or, where windows do not overlap,
 * put in its place. The first of equal maxima takes it all. */
static inline TARGET vector spread(const struct lanes_pool *p, const struct pool_channel *t,
                                   struct extent rows, struct extent columns, vector y, vector d,
                                   enum lanes_act act, bool add)
{
    vector sum = v_all(0);
    if (!p->max)
        d = d * v_all(1 / ((float)p->kernel_h * (float)p->kernel_w));
    for (int h = rows.begin; h < rows.end; h++) {
        for (int w = columns.begin; w < columns.end; w++) {
            const vector x = v_load(t->x + (h * t->row + w) * LANES);
            float *at = t->dx + (h * t->row + w) * LANES;
            vector part = d;
            if (p->max) {
                part = v_keep_equal(x, y, d);
                d = v_keep_unequal(x, y, d);
            }
            if (add)
                part += v_load(at);
            else
                part = act_back(act, x, part);
            v_store(at, part);
            sum += part;
        }
    }
    return sum;
}

static TARGET void clear_rows(float *x, ptrdiff_t row, struct extent rows, struct extent columns)
{
    if (columns.begin < columns.end)
        for (int h = rows.begin; h < rows.end; h++)
            memset(x + (h * row + columns.begin) * LANES, 0,
                   (size_t)(columns.end - columns.begin) * LANES * sizeof *x);
}

/* Zeros where no window is: between windows and after the last. */
static TARGET void clear_gaps(const struct lanes_pool *p, float *dx, ptrdiff_t row)
{
    const struct extent all = {0, p->x.w};
    int end = 0;
    for (int h = 0; h < p->y.h; h++) {
        struct extent rows = window(h, p->kernel_h, p->stride_h, p->pad_h, p->x.h);
        int side = 0;
        clear_rows(dx, row, (struct extent){end, rows.begin}, all);
        end = rows.end;
        for (int w = 0; w <= p->y.w; w++) {
            struct extent columns = window(w, p->kernel_w, p->stride_w, p->pad_w, p->x.w);
            int next = w < p->y.w ? columns.begin : p->x.w;
            clear_rows(dx, row, rows, (struct extent){side, next});
            side = columns.end;
        }
    }
    clear_rows(dx, row, (struct extent){end, p->x.h}, all);
}

/* Row h of y, whatever the windows; the pointers are those of the channel's first numbers. */
static TARGET vector back_row(const struct lanes_pool *p, const struct pool_channel *t, int h,
                              const float *y, const float *dy, enum lanes_act act)
{
    const ptrdiff_t at = h * lanes_row(&p->y) * LANES, from = 2 * h * t->row * LANES;
    const struct extent rows = window(h, p->kernel_h, p->stride_h, p->pad_h, p->x.h);
    const bool add = !lanes_pool_is_simple(p);
    vector sum = v_all(0);
    if (is_in_fours(p))
        return back_row_in_fours(p, t->x + from, y + at, dy + at, t->dx + from, act);
    for (int w = 0; w < p->y.w; w++) {
        const ptrdiff_t place = at + w * LANES;
        const struct extent columns = window(w, p->kernel_w, p->stride_w, p->pad_w, p->x.w);
        sum += spread(p, t, rows, columns, v_load(y + place), v_load(dy + place), act, add);
    }
    return sum;
}

static TARGET void pool_back(const struct lanes_pool *p, const float *x, const float *y,
                             const float *dy, float *dx, enum lanes_act act, float *sums)
{
    const bool simple = lanes_pool_is_simple(p), fours = is_in_fours(p);
    for (int c = 0; c < p->y.c; c++) {
        const ptrdiff_t start = (c * lanes_plane(&p->x) + lanes_first(&p->x)) * LANES;
        const struct pool_channel t = {x + start, dx + start, lanes_row(&p->x)};
        const ptrdiff_t first = (c * lanes_plane(&p->y) + lanes_first(&p->y)) * LANES;
        vector sum = v_all(0);
        if (simple && !fours)
            clear_gaps(p, t.dx, t.row);
        else if (!simple)
            clear_rows(t.dx, t.row, (struct extent){0, p->x.h}, (struct extent){0, p->x.w});
        for (int h = 0; h < p->y.h; h++)
            sum += back_row(p, &t, h, y + first, dy + first, act);
        if (sums)
            v_store(sums + c * LANES, v_load(sums + c * LANES) + sum);
    }
}

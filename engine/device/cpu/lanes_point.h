/* SPDX-License-Identifier: MIT */

/* Operations of lanes_kernels.h on single numbers, and pooling. */

static TARGET void activate(enum lanes_act act, const struct lanes_image *image, const float *x,
                            float *y)
{
    act_of(act, x, lanes_size(image), y);
    clear_border(image, y);
}

static TARGET void activate_back(enum lanes_act act, const struct lanes_image *image,
                                 const float *y, float *d, float *sums)
{
    for (int c = 0; c < image->c; c++) {
        vector sum = v_all(0);
        for (int h = 0; h < image->h; h++) {
            const ptrdiff_t row =
                (c * lanes_plane(image) + lanes_first(image) + h * lanes_row(image)) * LANES;
            for (int i = 0; i < image->w; i++) {
                const ptrdiff_t at = row + i * LANES;
                vector v = act_back(act, v_load(y + at), v_load(d + at));
                v_store(d + at, v);
                sum += v;
            }
        }
        if (sums)
            v_store(sums + c * LANES, v_load(sums + c * LANES) + sum);
    }
}

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
    return sum * v_all(1 / (float)(p->kernel_h * p->kernel_w));
}

static TARGET void pool(const struct lanes_pool *p, const float *x, float *y)
{
    clear_border(&p->y, y);
    for (int c = 0; c < p->y.c; c++) {
        const float *px = x + (c * lanes_plane(&p->x) + lanes_first(&p->x)) * LANES;
        for (int h = 0; h < p->y.h; h++) {
            float *py =
                y + (c * lanes_plane(&p->y) + lanes_first(&p->y) + h * lanes_row(&p->y)) * LANES;
            struct extent rows = window(h, p->kernel_h, p->stride_h, p->pad_h, p->x.h);
            for (int w = 0; w < p->y.w; w++)
                v_store(py + w * LANES,
                        pool_window(p, px, rows,
                                    window(w, p->kernel_w, p->stride_w, p->pad_w, p->x.w)));
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
        d = d * v_all(1 / (float)(p->kernel_h * p->kernel_w));
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

/* Zeros where no window is: between windows and behind the last. */
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

static TARGET void pool_back(const struct lanes_pool *p, const float *x, const float *y,
                             const float *dy, float *dx, enum lanes_act act, float *sums)
{
    const bool simple = lanes_pool_is_simple(p);
    for (int c = 0; c < p->y.c; c++) {
        const ptrdiff_t start = (c * lanes_plane(&p->x) + lanes_first(&p->x)) * LANES;
        const struct pool_channel t = {x + start, dx + start, lanes_row(&p->x)};
        const ptrdiff_t first = (c * lanes_plane(&p->y) + lanes_first(&p->y)) * LANES;
        vector sum = v_all(0);
        if (simple)
            clear_gaps(p, t.dx, t.row);
        else
            clear_rows(t.dx, t.row, (struct extent){0, p->x.h}, (struct extent){0, p->x.w});
        for (int h = 0; h < p->y.h; h++) {
            struct extent rows = window(h, p->kernel_h, p->stride_h, p->pad_h, p->x.h);
            for (int w = 0; w < p->y.w; w++) {
                const ptrdiff_t at = first + (h * lanes_row(&p->y) + w) * LANES;
                struct extent columns = window(w, p->kernel_w, p->stride_w, p->pad_w, p->x.w);
                sum += spread(p, &t, rows, columns, v_load(y + at), v_load(dy + at), act, !simple);
            }
        }
        if (sums)
            v_store(sums + c * LANES, v_load(sums + c * LANES) + sum);
    }
}

static TARGET void mask(const float *x, const float *factor, int count, float *y)
{
    for (int i = 0; i < count; i++) {
        const vector f = v_load(factor + i * LANES);
        v_store(y + i * LANES, v_keep_positive(f, v_load(x + i * LANES) * f));
    }
}

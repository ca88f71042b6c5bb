/* SPDX-License-Identifier: MIT */

/*
 * The kernels of kernels.h for a block that is one vector. Included by a file that has chosen its
 * instruction set and defined
 *   KERNELS                  the name of the table
 *   TARGET                   the function attribute that allows it
 *   LANES                    floats in a vector
 *   vector                   its type, with the arithmetic operators
 *   v_load(p), v_store(p, v), v_zero(), v_fma(a, b, c) = a*b + c, v_max(a, b)
 *   v_positive(v)            a word with bit i set where lane i is > 0
 *   v_keep(word, v)          v, zero where the bit is clear
 *   v_keep_positive(t, v)    v, zero where t is not > 0
 *   v_fence()                makes streamed stores visible
 * Values are of the type of simd/stored.h.
 */

#include "engine/device/cpu/simd/stored.h"

/* Four running sums hide the latency of the additions. */
#define UNROLL 4

struct running {
    vector sum[UNROLL], product[UNROLL];
};

static inline TARGET void running_clear(struct running *r)
{
    for (int u = 0; u < UNROLL; u++)
        r->sum[u] = r->product[u] = v_zero();
}

/* Rows are added up in single, the whole in double precision. */
static inline TARGET void running_flush(const struct running *r, double *sums)
{
    float sum[LANES], product[LANES];
    v_store(sum, (r->sum[0] + r->sum[1]) + (r->sum[2] + r->sum[3]));
    v_store(product, (r->product[0] + r->product[1]) + (r->product[2] + r->product[3]));
    for (int k = 0; k < LANES; k++) {
        sums[k] += (double)sum[k];
        sums[LANES + k] += (double)product[k];
    }
}

static inline TARGET void running_add(struct running *r, size_t u, vector value, vector factor)
{
    r->sum[u] += value;
    r->product[u] = v_fma(value, factor, r->product[u]);
}

static TARGET void widen(const void *values, float *to)
{
    v_store(to, n_load(values));
}

static TARGET void norm_sums(const struct slab *slab, const void *x, const float *origin,
                             double *sums)
{
    const vector o = v_load(origin);
    for (int k = 0; k < 2 * LANES; k++)
        sums[k] = 0;
    for (size_t n = 0; n < slab->rows; n++) {
        const number *p = (const number *)x + n * slab->stride;
        struct running r;
        size_t i = 0;
        running_clear(&r);
        for (; i + UNROLL <= slab->pixels; i += UNROLL) {
            for (size_t u = 0; u < UNROLL; u++) {
                vector d = n_load(p + (i + u) * LANES) - o;
                running_add(&r, u, d, d);
            }
        }
        for (; i < slab->pixels; i++) {
            vector d = n_load(p + i * LANES) - o;
            running_add(&r, 0, d, d);
        }
        running_flush(&r, sums);
    }
}

/* Last row first: what the sums read last is still in the cache. */
static inline TARGET void forward_rows(const struct norm_forward *t, bool relu, bool residual,
                                       bool stream)
{
    const vector scale = v_load(t->scale), shift = v_load(t->shift), zero = v_zero();
    for (size_t n = t->slab.rows; n-- > 0;) {
        const number *x = (const number *)t->x + n * t->slab.stride;
        const number *r = residual ? (const number *)t->residual + n * t->slab.stride : NULL;
        number *y = (number *)t->y + n * t->slab.stride;
        uint16_t *mask = residual && t->mask ? t->mask + n * t->slab.stride / LANES : NULL;
        for (size_t i = 0; i < t->slab.pixels; i++) {
            vector v = v_fma(n_load(x + i * LANES), scale, shift);
            if (residual)
                v += n_load(r + i * LANES);
            if (mask)
                mask[i] = v_positive(v);
            if (relu)
                v = v_max(v, zero);
            n_put(y + i * LANES, v, stream);
        }
    }
    v_fence();
}

static TARGET void norm_forward(const struct norm_forward *t)
{
    if (t->residual && t->stream)
        forward_rows(t, true, true, true);
    else if (t->residual)
        forward_rows(t, true, true, false);
    else if (t->relu && t->stream)
        forward_rows(t, true, false, true);
    else if (t->relu)
        forward_rows(t, true, false, false);
    else
        forward_rows(t, false, false, t->stream);
}

/* The gradient before the ReLU at vector `i` of a row. */
static inline TARGET vector masked_gradient(const number *dy, const number *dy2,
                                            const uint16_t *mask, size_t i, vector x, vector scale,
                                            vector shift, bool relu)
{
    vector g = n_load(dy + i * LANES);
    if (dy2)
        g += n_load(dy2 + i * LANES);
    if (mask)
        return v_keep(mask[i], g);
    return relu ? v_keep_positive(v_fma(x, scale, shift), g) : g;
}

static inline TARGET void backward_sums_rows(const struct norm_backward *t, double *sums, bool relu,
                                             bool residual, bool two)
{
    const vector scale = v_load(t->scale), shift = v_load(t->shift), mean = v_load(t->mean);
    for (size_t n = 0; n < t->slab.rows; n++) {
        size_t row = n * t->slab.stride;
        const number *x = (const number *)t->x + row, *dy = (const number *)t->dy + row;
        const number *dy2 = two ? (const number *)t->dy2 + row : NULL;
        const uint16_t *mask = residual ? t->mask + row / LANES : NULL;
        number *g = residual ? (number *)t->g + row : NULL;
        struct running r;
        size_t i = 0;
        running_clear(&r);
        for (; i + UNROLL <= t->slab.pixels; i += UNROLL) {
            for (size_t u = 0; u < UNROLL; u++) {
                vector v = n_load(x + (i + u) * LANES);
                vector m = masked_gradient(dy, dy2, mask, i + u, v, scale, shift, relu);
                if (residual)
                    n_store(g + (i + u) * LANES, m);
                running_add(&r, u, m, v - mean);
            }
        }
        for (; i < t->slab.pixels; i++) {
            vector v = n_load(x + i * LANES);
            vector m = masked_gradient(dy, dy2, mask, i, v, scale, shift, relu);
            if (residual)
                n_store(g + i * LANES, m);
            running_add(&r, 0, m, v - mean);
        }
        running_flush(&r, sums);
    }
}

static TARGET void norm_backward_sums(const struct norm_backward *t, double *sums)
{
    for (int k = 0; k < 2 * LANES; k++)
        sums[k] = 0;
    if (t->mask && t->dy2)
        backward_sums_rows(t, sums, true, true, true);
    else if (t->mask)
        backward_sums_rows(t, sums, true, true, false);
    else if (t->relu && t->dy2)
        backward_sums_rows(t, sums, true, false, true);
    else if (t->relu)
        backward_sums_rows(t, sums, true, false, false);
    else
        backward_sums_rows(t, sums, false, false, t->dy2 != NULL);
}

static inline TARGET void backward_data_rows(const struct norm_backward *t, bool relu,
                                             bool residual, bool two)
{
    const vector scale = v_load(t->scale), shift = v_load(t->shift);
    const vector a = v_load(t->a), b = v_load(t->b), c = v_load(t->c);
    for (size_t n = t->slab.rows; n-- > 0;) {
        size_t row = n * t->slab.stride;
        const number *x = (const number *)t->x + row;
        const number *dy = (const number *)(residual ? t->g : t->dy) + row;
        const number *dy2 = two ? (const number *)t->dy2 + row : NULL;
        number *dx = (number *)t->dx + row;
        for (size_t i = 0; i < t->slab.pixels; i++) {
            vector v = n_load(x + i * LANES);
            vector g = masked_gradient(dy, dy2, NULL, i, v, scale, shift, relu && !residual);
            n_put(dx + i * LANES, v_fma(g, a, v_fma(v, b, c)), t->stream);
        }
    }
    v_fence();
}

static TARGET void norm_backward_data(const struct norm_backward *t)
{
    if (t->mask)
        backward_data_rows(t, true, true, false);
    else if (t->relu && t->dy2)
        backward_data_rows(t, true, false, true);
    else if (t->relu)
        backward_data_rows(t, true, false, false);
    else
        backward_data_rows(t, false, false, t->dy2 != NULL);
}

const struct kernels KERNELS = {.block = LANES,
                                .bf16 = NUMBER_IS_BF16,
                                .widen = widen,
                                .norm_sums = norm_sums,
                                .norm_forward = norm_forward,
                                .norm_backward_sums = norm_backward_sums,
                                .norm_backward_data = norm_backward_data};

/* SPDX-License-Identifier: MIT */

/*
 * The loops of kernels.h in plain C, for values of the type of simd/stored.h. Included by a file
 * that defines KERNELS, the name of the table.
 *
 * They are for values in the plain layout, a slab being one channel: what lies on linear layers, on
 * the network's input, and everything on processors without AVX2.
 */

#include "engine/device/cpu/simd/stored.h"

/* Independent sums let the compiler keep them in vectors without reordering additions. */
#define LANES 8

static inline float value_at(const void *values, size_t at)
{
    return stored_value(((const number *)values)[at]);
}

static void widen(const void *values, float *to)
{
    to[0] = value_at(values, 0);
}

static void norm_sums(const struct slab *slab, const void *x, const float *origin, double *sums)
{
    sums[0] = sums[1] = 0;
    for (size_t n = 0; n < slab->rows; n++) {
        const number *p = (const number *)x + n * slab->stride;
        float sum[LANES] = {0}, square[LANES] = {0};
        for (size_t i = 0; i < slab->pixels; i++) {
            float d = stored_value(p[i]) - origin[0];
            sum[i % LANES] += d;
            square[i % LANES] += d * d;
        }
        for (int k = 0; k < LANES; k++) {
            sums[0] += (double)sum[k];
            sums[1] += (double)square[k];
        }
    }
}

static void norm_forward(const struct norm_forward *t)
{
    const float scale = t->scale[0], shift = t->shift[0];
    for (size_t n = 0; n < t->slab.rows; n++) {
        size_t row = n * t->slab.stride;
        const number *x = (const number *)t->x + row;
        number *y = (number *)t->y + row;
        for (size_t i = 0; i < t->slab.pixels; i++) {
            float v = stored_value(x[i]) * scale + shift;
            if (t->residual)
                v += value_at(t->residual, row + i);
            if (t->residual && t->mask)
                t->mask[row + i] = v > 0;
            y[i] = stored_of(t->relu && v < 0 ? 0 : v);
        }
    }
}

/* The gradient before the ReLU. */
static inline float masked_gradient(const struct norm_backward *t, size_t at)
{
    float g = value_at(t->dy, at) + (t->dy2 ? value_at(t->dy2, at) : 0);
    if (t->mask)
        return t->mask[at] ? g : 0;
    return t->relu && !(value_at(t->x, at) * t->scale[0] + t->shift[0] > 0) ? 0 : g;
}

static void norm_backward_sums(const struct norm_backward *t, double *sums)
{
    sums[0] = sums[1] = 0;
    for (size_t n = 0; n < t->slab.rows; n++) {
        float sum[LANES] = {0}, product[LANES] = {0};
        for (size_t i = 0; i < t->slab.pixels; i++) {
            size_t at = n * t->slab.stride + i;
            float g = masked_gradient(t, at);
            if (t->mask)
                ((number *)t->g)[at] = stored_of(g);
            sum[i % LANES] += g;
            product[i % LANES] += g * (value_at(t->x, at) - t->mean[0]);
        }
        for (int k = 0; k < LANES; k++) {
            sums[0] += (double)sum[k];
            sums[1] += (double)product[k];
        }
    }
}

static void norm_backward_data(const struct norm_backward *t)
{
    for (size_t n = 0; n < t->slab.rows; n++) {
        for (size_t i = 0; i < t->slab.pixels; i++) {
            size_t at = n * t->slab.stride + i;
            float g = t->mask ? value_at(t->g, at) : masked_gradient(t, at);
            const float dx = t->a[0] * g + t->b[0] * value_at(t->x, at) + t->c[0];
            ((number *)t->dx)[at] = stored_of(dx);
        }
    }
}

const struct kernels KERNELS = {.block = 1,
                                .bf16 = NUMBER_IS_BF16,
                                .widen = widen,
                                .norm_sums = norm_sums,
                                .norm_forward = norm_forward,
                                .norm_backward_sums = norm_backward_sums,
                                .norm_backward_data = norm_backward_data};

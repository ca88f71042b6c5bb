/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h in plain C, and which loops a processor can run. */
#include "engine/device/cpu/simd/kernels.h"

#include "engine/device/cpu/simd/processor.h"

/*
 * For values in the plain layout, a slab being one channel: what lies on linear layers, on the
 * network's input, and everything on processors without AVX2.
 */

/* Independent sums let the compiler keep them in vectors without reordering additions. */
#define LANES 8

static void norm_sums(const struct slab *slab, const float *x, const float *origin, double *sums)
{
    sums[0] = sums[1] = 0;
    for (size_t n = 0; n < slab->rows; n++) {
        const float *p = x + n * slab->stride;
        float sum[LANES] = {0}, square[LANES] = {0};
        for (size_t i = 0; i < slab->pixels; i++) {
            float d = p[i] - origin[0];
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
        const float *x = t->x + row;
        float *y = t->y + row;
        for (size_t i = 0; i < t->slab.pixels; i++) {
            float v = x[i] * scale + shift;
            if (t->residual)
                v += t->residual[row + i];
            if (t->residual && t->mask)
                t->mask[row + i] = v > 0;
            y[i] = t->relu && v < 0 ? 0 : v;
        }
    }
}

/* The gradient before the ReLU. */
static inline float masked_gradient(const struct norm_backward *t, size_t at)
{
    float g = t->dy[at] + (t->dy2 ? t->dy2[at] : 0);
    if (t->mask)
        return t->mask[at] ? g : 0;
    return t->relu && !(t->x[at] * t->scale[0] + t->shift[0] > 0) ? 0 : g;
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
                t->g[at] = g;
            sum[i % LANES] += g;
            product[i % LANES] += g * (t->x[at] - t->mean[0]);
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
            float g = t->mask ? t->g[at] : masked_gradient(t, at);
            t->dx[at] = t->a[0] * g + t->b[0] * t->x[at] + t->c[0];
        }
    }
}

const struct kernels kernels_plain = {.block = 1,
                                      .norm_sums = norm_sums,
                                      .norm_forward = norm_forward,
                                      .norm_backward_sums = norm_backward_sums,
                                      .norm_backward_data = norm_backward_data};

const struct kernels *kernels_find(int block, bool bf16)
{
    (void)bf16;
#if defined(__x86_64__)
    if (processor_has_vectors(block))
        return block == kernels_avx512.block ? &kernels_avx512 : &kernels_avx2;
#endif
    return block == 1 ? &kernels_plain : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/conv/fusion.h"

#include <string.h>

#include "engine/device/cpu/core/number.h"
#include "engine/device/plan/graph.h"
#include "engine/device/plan/memory_pool.h"

void conv_moments_join(const struct conv_moments *moments, int stride, int threads, int width,
                       double *sums, float *origin)
{
    double *squares = sums + width;
    bool any = false;
    memset(sums, 0, 2 * (size_t)width * sizeof *sums);
    for (int t = 0; t < threads; t++) {
        const struct conv_moments *m = &moments[(size_t)t * (size_t)stride];
        const double count = (double)m->count;
        if (m->count == 0)
            continue;
        if (!any)
            memcpy(origin, m->origin, (size_t)width * sizeof *origin);
        any = true;
        for (int k = 0; k < width; k++) {
            const double moved = (double)m->origin[k] - (double)origin[k];
            sums[k] += m->sum[k] + count * moved;
            squares[k] += m->square[k] + (2 * m->sum[k] + count * moved) * moved;
        }
    }
}

void fused_norm_apply(const struct fused_norm *norm, const struct value *value, size_t rows,
                      const void *x, void *result)
{
    const float *stats = norm->stats->data;
    const size_t block = (size_t)value->block, pixels = (size_t)value_pixels(value);
    const struct kernels *kernels = kernels_find(value->block, norm->bf16);
#pragma omp parallel for schedule(static)
    for (int i = 0; i < value_channels(value) / value->block; i++) {
        const size_t channel = (size_t)i * block, start = channel * pixels;
        const struct norm_forward args = {
            .slab = {.rows = rows, .pixels = pixels, .stride = value_row(value)},
            .x = number_in(x, start, norm->bf16),
            .y = number_at(result, start, norm->bf16),
            .scale = stats + norm->scale + channel,
            .shift = stats + norm->shift + channel,
            .relu = true};
        kernels->norm_forward(&args);
    }
}

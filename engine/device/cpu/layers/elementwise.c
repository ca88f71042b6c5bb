/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/elementwise.h"

/* For fewer numbers waking the team costs more than the loop. */
#define PARALLEL_FROM 16384

void elementwise_add(const float *a, const float *b, bool relu, float *sum, size_t count)
{
    if (relu) {
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
        for (size_t i = 0; i < count; i++) {
            float v = a[i] + b[i];
            sum[i] = v < 0 ? 0 : v;
        }
    } else {
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
        for (size_t i = 0; i < count; i++)
            sum[i] = a[i] + b[i];
    }
}

void elementwise_relu(const float *x, float *y, size_t count)
{
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++)
        y[i] = x[i] < 0 ? 0 : x[i];
}

void elementwise_relu_backward(const float *y, const float *dy, float *dx, size_t count)
{
#pragma omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)
    for (size_t i = 0; i < count; i++)
        dx[i] = y[i] > 0 ? dy[i] : 0;
}

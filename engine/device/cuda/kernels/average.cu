/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"

/* An average of the parameters, and its change of places with them. */

enum { QUAD = 4 };

struct average_work {
    typedef struct optimizer_step constants;
    struct loaded {
        float4 mean, w;
    };
    enum { bytes = 2 * sizeof(float4) };
    float *mean;
    const float *params;
    const struct optimizer_step *step;

    __device__ constants prepare(uint32_t) const
    {
        return *step;
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.mean = quad_load(mean, i);
        in.w = quad_load(params, i);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &s) const
    {
        quad_store(mean, i,
                   make_float4(update_average(in.mean.x, in.w.x, &s),
                               update_average(in.mean.y, in.w.y, &s),
                               update_average(in.mean.z, in.w.z, &s),
                               update_average(in.mean.w, in.w.w, &s)));
    }
};

extern "C" cudaError_t kernel_average(cudaStream_t s, size_t count, float *mean,
                                      const float *params, const struct optimizer_step *step)
{
    average_work work;
    work.mean = mean;
    work.params = params;
    work.step = step;
    return each_launch(s, work, count / QUAD, 1);
}

struct swap_work {
    typedef each_nothing constants;
    struct loaded {
        float4 a, b;
    };
    enum { bytes = 2 * sizeof(float4) };
    float *a, *b;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.a = quad_load(a, i);
        in.b = quad_load(b, i);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &) const
    {
        quad_store(a, i, in.b);
        quad_store(b, i, in.a);
    }
};

extern "C" cudaError_t kernel_swap(cudaStream_t s, size_t count, float *a, float *b)
{
    swap_work work;
    work.a = a;
    work.b = b;
    return each_launch(s, work, count / QUAD, 1);
}

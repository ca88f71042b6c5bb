/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"
#include "engine/device/cuda/kernels/sgd_math.h"

/* What goes over the flat arenas of parameters and gradients, 4 numbers at a time. */

enum { QUAD = 4 };

template <bool has_momentum> struct sgd_work {
    typedef struct sgd_rates constants;
    struct loaded {
        float4 w, g, v;
    };
    enum { bytes = (2 + has_momentum) * sizeof(float4) };
    float *params;
    const float *grads;
    float *momentum;
    uint16_t *copy;
    const float *rates;

    __device__ constants prepare(uint32_t) const
    {
        constants r = {rates[0], rates[1], rates[2]};
        return r;
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.w = quad_load(params, i);
        in.g = quad_load(grads, i);
        in.v = has_momentum ? quad_load(momentum, i) : make_float4(0, 0, 0, 0);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &r) const
    {
        float4 w, v = in.v;
        w.x = sgd_update(in.w.x, in.g.x, &v.x, has_momentum, r);
        w.y = sgd_update(in.w.y, in.g.y, &v.y, has_momentum, r);
        w.z = sgd_update(in.w.z, in.g.z, &v.z, has_momentum, r);
        w.w = sgd_update(in.w.w, in.g.w, &v.w, has_momentum, r);
        quad_store(params, i, w);
        if (has_momentum)
            quad_store(momentum, i, v);
        if (copy)
            quad_store(copy, i, w);
    }
};

template <bool has_momentum>
static cudaError_t sgd(cudaStream_t s, size_t count, float *params, const float *grads,
                       float *momentum, uint16_t *copy, const float *rates)
{
    sgd_work<has_momentum> work;
    work.params = params;
    work.grads = grads;
    work.momentum = momentum;
    work.copy = copy;
    work.rates = rates;
    return each_launch(s, work, count / QUAD, 1);
}

extern "C" cudaError_t kernel_sgd(cudaStream_t s, size_t count, float *params, const float *grads,
                                  float *momentum, uint16_t *copy, const float *rates,
                                  bool has_momentum)
{
    return has_momentum ? sgd<true>(s, count, params, grads, momentum, copy, rates)
                        : sgd<false>(s, count, params, grads, momentum, copy, rates);
}

enum { SOURCES_LIMIT = 64 };

struct sources_work {
    typedef each_nothing constants;
    typedef float4 loaded;
    enum { bytes = sizeof(float4) };
    const float *sources[SOURCES_LIMIT];
    int count;
    float *sum;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        float4 x = quad_load(sources[0], i);
#pragma unroll 4
        for (int k = 1; k < count; k++) {
            const float4 y = quad_load(sources[k], i);
            x.x += y.x;
            x.y += y.y;
            x.z += y.z;
            x.w += y.w;
        }
        return x;
    }
    __device__ void finish(size_t i, const loaded &x, const constants &) const
    {
        quad_store(sum, i, x);
    }
};

extern "C" cudaError_t kernel_sum_sources(cudaStream_t s, size_t count, const float *const *sources,
                                          int source_count, float *sum)
{
    sources_work work = {};
    if (source_count < 1 || source_count > SOURCES_LIMIT)
        return cudaErrorInvalidValue;
    for (int k = 0; k < source_count; k++)
        work.sources[k] = sources[k];
    work.count = source_count;
    work.sum = sum;
    return each_launch(s, work, count / QUAD, 1);
}

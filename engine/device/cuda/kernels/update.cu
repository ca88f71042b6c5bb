/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"

/* What goes over the flat arenas of parameters and gradients, 4 numbers at a time. */

enum { QUAD = 4 }; /* a fourth of what shares a byte of `spared`, too */

/* The rules, as types. */
#define RULE(NAME, rule, count)                                                                    \
    struct rule_##rule {                                                                           \
        enum { states = count };                                                                   \
        static __device__ float next(float w, float g, float *a, float *b,                         \
                                     const struct optimizer_step &s)                               \
        {                                                                                          \
            return update_##rule(w, g, a, b, &s);                                                  \
        }                                                                                          \
    };
UPDATE_RULES(RULE)

/* Spares: weight decay leaves some alone. An update of all alike has registers for more blocks. */
template <typename Rule, bool spares> struct update_work {
    struct constants {
        struct optimizer_step step;
        float scale;
    };
    struct loaded {
        float4 w, g, a, b;
        uint8_t spared;
    };
    enum { bytes = (2 + Rule::states) * sizeof(float4) };
    struct update_arrays arrays;
    const struct optimizer_step *step;

    __device__ constants prepare(uint32_t) const
    {
        constants c;
        c.step = *step;
        c.scale = arrays.scale ? *arrays.scale : 1;
        return c;
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.w = quad_load(arrays.params, i);
        in.g = quad_load(arrays.grads, i);
        in.a = Rule::states > 0 ? quad_load(arrays.state[0], i) : make_float4(0, 0, 0, 0);
        in.b = Rule::states > 1 ? quad_load(arrays.state[1], i) : make_float4(0, 0, 0, 0);
        in.spared = spares ? arrays.spared[(arrays.first / QUAD + i) / QUAD] : 0;
        return in;
    }
    /* The product is rounded, as in an update on a host: it is no part of what the rule adds. */
    static __device__ float scaled(float g, const constants &c)
    {
        return __fmul_rn(g, c.scale);
    }
    __device__ void finish(size_t i, const loaded &in, const constants &c) const
    {
        const struct optimizer_step s = spares && in.spared ? update_spared(c.step) : c.step;
        float4 w, a = in.a, b = in.b;
        w.x = Rule::next(in.w.x, scaled(in.g.x, c), &a.x, &b.x, s);
        w.y = Rule::next(in.w.y, scaled(in.g.y, c), &a.y, &b.y, s);
        w.z = Rule::next(in.w.z, scaled(in.g.z, c), &a.z, &b.z, s);
        w.w = Rule::next(in.w.w, scaled(in.g.w, c), &a.w, &b.w, s);
        quad_store(arrays.params, i, w);
        if (Rule::states > 0)
            quad_store(arrays.state[0], i, a);
        if (Rule::states > 1)
            quad_store(arrays.state[1], i, b);
        if (arrays.copy)
            quad_store(arrays.copy, i, w);
    }
};

template <typename Rule, bool spares>
static cudaError_t update(cudaStream_t s, size_t count, const struct update_arrays *arrays,
                          const struct optimizer_step *step)
{
    update_work<Rule, spares> work;
    work.arrays = *arrays;
    work.step = step;
    return each_launch(s, work, count / QUAD, 1);
}

#define CASE(NAME, rule, states)                                                                   \
    case UPDATE_##NAME:                                                                            \
        return arrays->spared ? update<rule_##rule, true>(s, count, arrays, step)                  \
                              : update<rule_##rule, false>(s, count, arrays, step);

extern "C" cudaError_t kernel_update(cudaStream_t s, enum update_rule rule, size_t count,
                                     const struct update_arrays *arrays,
                                     const struct optimizer_step *step)
{
    switch (rule) {
        UPDATE_RULES(CASE)
    }
    return cudaErrorInvalidValue;
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

/* An average of the parameters. */
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

/* The average and the parameters change places. */
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

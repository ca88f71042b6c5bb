/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/activation_math.h"
#include "engine/device/cuda/norm_math.h"
#include "engine/device/cuda/sums.h"

/* g = dy [+ dy2], with ReLU where y > 0 alone. */
template <typename T, bool has_dy2, bool has_relu> struct norm_gradient_source {
    struct loaded {
        pack<T> dy, dy2, y;
    };
    enum { bytes = (1 + has_dy2 + has_relu) * sizeof(pack<T>) };
    const T *dy, *dy2, *y;

    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.dy = pack_load(dy, i);
        if (has_dy2)
            in.dy2 = pack_load(dy2, i);
        if (has_relu)
            in.y = pack_load(y, i);
        return in;
    }
    static __device__ void numbers(const loaded &in, float g[PACK])
    {
        float v[PACK];
        pack_numbers(in.dy, g);
        if (has_dy2) {
            pack_numbers(in.dy2, v);
            for (int k = 0; k < PACK; k++)
                g[k] += v[k];
        }
        if (has_relu) {
            pack_numbers(in.y, v);
            for (int k = 0; k < PACK; k++)
                g[k] = relu_backward(v[k], g[k]);
        }
    }
};

/* Sums of g and g * (x - origin); the origin as in the forward pass. */
template <typename T, typename Source> struct norm_backward_sums_work {
    struct constants {
        float origin[PACK];
    };
    struct loaded {
        typename Source::loaded source;
        pack<T> x;
    };
    enum { bytes = Source::bytes + sizeof(pack<T>) };
    Source source;
    const T *x;
    T *g;

    __device__ constants prepare(uint32_t group) const
    {
        constants c;
        pack_numbers(pack_load(x, group), c.origin);
        return c;
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.source = source.load(i);
        in.x = pack_load(x, i);
        return in;
    }
    __device__ void add(size_t i, const loaded &in, const constants &c, float sum[PACK],
                        float product[PACK]) const
    {
        float d[PACK], v[PACK];
        Source::numbers(in.source, d);
        pack_numbers(in.x, v);
        if (g) {
            pack_store(g, i, d);
            pack_as_stored(g, d);
        }
        for (int k = 0; k < PACK; k++) {
            sum[k] += d[k];
            product[k] += d[k] * (v[k] - c.origin[k]);
        }
    }
};

template <typename T> struct norm_backward_sums_finish {
    const T *x;
    uint32_t channels;
    double *sums;

    __device__ void take(uint32_t channel, double sum, double product, size_t n) const
    {
        struct norm_moments m = {sum, product};
        if (n > 0)
            m = norm_move_products(m, (double)pack_first(x, channel));
        sums[channel] = m.sum;
        sums[channels + channel] = m.product;
    }
};

/* dx = a*g + b*x + c, from the end to the front, where the sums ended. */
template <typename T, typename Source> struct norm_backward_apply_work {
    struct constants {
        float a[PACK], b[PACK], c[PACK];
    };
    struct loaded {
        typename Source::loaded source;
        pack<T> x;
    };
    enum { bytes = Source::bytes + sizeof(pack<T>) };
    Source source;
    const float *a, *b, *c;
    const T *x;
    T *dx;
    uint32_t groups;
    size_t last;

    __device__ constants prepare(uint32_t group) const
    {
        constants k;
        pack_channels(a, groups - 1 - group, 0, k.a);
        pack_channels(b, groups - 1 - group, 0, k.b);
        pack_channels(c, groups - 1 - group, 0, k.c);
        return k;
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.source = source.load(last - i);
        in.x = pack_load(x, last - i);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &k) const
    {
        float d[PACK], v[PACK];
        Source::numbers(in.source, d);
        pack_numbers(in.x, v);
        for (int j = 0; j < PACK; j++)
            d[j] = k.a[j] * d[j] + (k.b[j] * v[j] + k.c[j]);
        pack_store(dx, last - i, d);
    }
};

/* What both kernels are asked for. */
struct norm_backward_call {
    cudaStream_t stream;
    struct tensor_shape shape;
    const void *dy, *dy2, *y, *x;
    void *g, *scratch, *dx;
    double *sums;
    const struct norm_gradients *slopes;
};

template <typename T, typename Source>
static Source source_of(const struct norm_backward_call *call)
{
    Source source;
    source.dy = (const T *)call->dy;
    source.dy2 = (const T *)call->dy2;
    source.y = (const T *)call->y;
    return source;
}

struct norm_run_sums {
    template <typename T, typename Source>
    static cudaError_t run(const struct norm_backward_call *call)
    {
        norm_backward_sums_work<T, Source> work;
        norm_backward_sums_finish<T> finish;
        work.source = source_of<T, Source>(call);
        work.x = finish.x = (const T *)call->x;
        work.g = (T *)call->g;
        finish.channels = (uint32_t)call->shape.channels;
        finish.sums = call->sums;
        return sums_launch(call->stream, work, finish, call->shape, call->scratch);
    }
};

struct norm_run_apply {
    template <typename T, typename Source>
    static cudaError_t run(const struct norm_backward_call *call)
    {
        norm_backward_apply_work<T, Source> work;
        work.source = source_of<T, Source>(call);
        work.a = call->slopes->a;
        work.b = call->slopes->b;
        work.c = call->slopes->c;
        work.x = (const T *)call->x;
        work.dx = (T *)call->dx;
        work.groups = (uint32_t)call->shape.channels / PACK;
        work.last = tensor_size(call->shape) / PACK - 1;
        return each_of_tensor(call->stream, work, call->shape);
    }
};

template <typename Run, typename T>
static cudaError_t run_typed(const struct norm_backward_call *call, bool relu)
{
    if (call->dy2)
        return relu ? Run::template run<T, norm_gradient_source<T, true, true>>(call)
                    : Run::template run<T, norm_gradient_source<T, true, false>>(call);
    return relu ? Run::template run<T, norm_gradient_source<T, false, true>>(call)
                : Run::template run<T, norm_gradient_source<T, false, false>>(call);
}

template <typename Run>
static cudaError_t run(enum cuda_type type, const struct norm_backward_call *call, bool relu)
{
    return type == CUDA_BF16 ? run_typed<Run, uint16_t>(call, relu)
                             : run_typed<Run, float>(call, relu);
}

extern "C" cudaError_t kernel_norm_backward_sums(cudaStream_t s, enum cuda_type type,
                                                 struct tensor_shape shape, const void *dy,
                                                 const void *dy2, const void *y, bool relu,
                                                 const void *x, void *g, void *scratch,
                                                 double *sums)
{
    struct norm_backward_call call = {};
    call.stream = s;
    call.shape = shape;
    call.dy = dy;
    call.dy2 = dy2;
    call.y = y;
    call.x = x;
    call.g = g;
    call.scratch = scratch;
    call.sums = sums;
    return run<norm_run_sums>(type, &call, relu);
}

/* With g the source is g alone. */
extern "C" cudaError_t kernel_norm_backward_apply(cudaStream_t s, enum cuda_type type,
                                                  struct tensor_shape shape,
                                                  const struct norm_gradients *k, const void *g,
                                                  const void *dy, const void *dy2, const void *y,
                                                  bool relu, const void *x, void *dx)
{
    struct norm_backward_call call = {};
    call.stream = s;
    call.shape = shape;
    call.dy = g ? g : dy;
    call.dy2 = g ? NULL : dy2;
    call.y = y;
    call.x = x;
    call.dx = dx;
    call.slopes = k;
    return run<norm_run_apply>(type, &call, relu && !g);
}

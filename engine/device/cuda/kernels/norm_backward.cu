/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/norm_channel.h"
#include "engine/device/cuda/kernels/sums.h"

/*
 * g = dy [+ dy2], with ReLU where y > 0 alone. y itself is not read: without a residual it is what
 * the forward pass made of x, which is read anyway, and whose sign is recomputed by the same
 * operation; with one the forward pass has left a bit for each of its numbers.
 */
enum norm_relu { RELU_NONE, RELU_OF_X, RELU_OF_MASK };

template <typename T, bool has_dy2, norm_relu relu> struct norm_gradient {
    enum {
        size = pack<T>::size,
        bytes = (2 + has_dy2) * sizeof(pack<T>),
        /* Whether g may have to be written down; blocks whose registers a multiprocessor has. */
        kept = has_dy2 || relu != RELU_OF_X,
        resident = has_dy2 && relu != RELU_OF_X ? 4 : 3
    };
    struct constants {
        float scale[size], shift[size];
    };
    struct loaded {
        pack<T> dy, dy2, x;
        uint8_t mask;
    };
    const T *dy, *dy2, *x;
    const uint8_t *mask;
    const float *scale, *shift;

    __device__ void prepare(uint32_t group, constants &c) const
    {
        if (relu == RELU_OF_X) {
            pack_channels(scale, group, c.scale);
            pack_channels(shift, group, c.shift);
        }
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.dy = pack_load(dy, i);
        if (has_dy2)
            in.dy2 = pack_load(dy2, i);
        in.x = pack_load(x, i);
        if (relu == RELU_OF_MASK)
            in.mask = mask[i];
        return in;
    }
    __device__ bool passes(const loaded &in, const constants &c, float number, int k) const
    {
        if (relu == RELU_OF_X)
            return pack_stores_above_zero(dy, norm_affine_at(number, c.scale[k], c.shift[k]));
        return relu == RELU_NONE || (in.mask >> k & 1);
    }
    /* The pack's numbers of x, and its g. */
    __device__ void numbers(const loaded &in, const constants &c, float of_x[size],
                            float g[size]) const
    {
        float v[size];
        pack_numbers(in.x, of_x);
        pack_numbers(in.dy, g);
        if (has_dy2)
            pack_numbers(in.dy2, v);
        for (int k = 0; k < size; k++) {
            if (has_dy2)
                g[k] += v[k];
            g[k] = passes(in, c, of_x[k], k) ? g[k] : 0;
        }
    }
};

/* Sums of g and g * (x - origin); the origin as in the forward pass. */
template <typename T, typename Gradient> struct norm_backward_sums_work {
    enum { size = pack<T>::size, bytes = Gradient::bytes, resident = Gradient::resident };
    struct constants {
        typename Gradient::constants gradient;
        pack<T> origin; /* as it lies in memory: half the registers in bf16 */
    };
    typedef typename Gradient::loaded loaded;
    Gradient gradient;
    T *g;

    __device__ constants prepare(uint32_t group) const
    {
        constants c;
        gradient.prepare(group, c.gradient);
        c.origin = pack_load(gradient.x, group);
        return c;
    }
    __device__ loaded load(size_t i) const
    {
        return gradient.load(i);
    }
    __device__ void add(size_t i, const loaded &in, const constants &c, float sum[size],
                        float product[size]) const
    {
        float d[size], x[size], origin[size];
        gradient.numbers(in, c.gradient, x, d);
        pack_numbers(c.origin, origin);
        if (Gradient::kept && g) {
            pack_store(g, i, d);
            pack_as_stored(g, d);
        }
        for (int k = 0; k < size; k++) {
            sum[k] += d[k];
            product[k] += d[k] * (x[k] - origin[k]);
        }
    }
};

template <typename T> struct norm_backward_sums_finish {
    const T *x;
    double *sums;
    struct norm_params n;
    const double *elements; /* NULL: no gradients yet */
    struct norm_gradients to;

    __device__ void take(uint32_t c, double sum, double product, size_t count) const
    {
        struct norm_moments m = {sum, product};
        if (count > 0)
            m = norm_move_products(m, (double)pack_first(x, c));
        sums[c] = m.sum;
        sums[n.channels + c] = m.product;
        if (elements)
            norm_set_gradients(n, c, m, m, *elements, to);
    }
};

/* dx = a*g + b*x + c, from the end to the front, where the sums ended. The first product is
 * rounded, never part of an fma: then dx is zero exactly where it should be, with one number per
 * channel, where c is -a*g as rounded. */
template <typename T, typename Gradient> struct norm_backward_apply_work {
    enum { size = pack<T>::size, bytes = Gradient::bytes };
    struct constants {
        typename Gradient::constants gradient;
        float a[size], b[size], c[size];
    };
    typedef typename Gradient::loaded loaded;
    Gradient gradient;
    const float *a, *b, *c;
    T *dx;
    uint32_t groups;
    size_t last;

    __device__ constants prepare(uint32_t group) const
    {
        constants k;
        gradient.prepare(groups - 1 - group, k.gradient);
        pack_channels(a, groups - 1 - group, k.a);
        pack_channels(b, groups - 1 - group, k.b);
        pack_channels(c, groups - 1 - group, k.c);
        return k;
    }
    __device__ loaded load(size_t i) const
    {
        return gradient.load(last - i);
    }
    __device__ void finish(size_t i, const loaded &in, const constants &k) const
    {
        float d[size], x[size];
        gradient.numbers(in, k.gradient, x, d);
        for (int j = 0; j < size; j++)
            d[j] = __fadd_rn(__fmul_rn(k.a[j], d[j]), fmaf(k.b[j], x[j], k.c[j]));
        pack_store(dx, last - i, d);
    }
};

/* What both kernels are asked for. */
struct norm_backward_call {
    cudaStream_t stream;
    const struct norm_backward *b;
    const struct norm_params *n;
    struct sums_memory memory;
    double *sums;
    const double *elements;
    const struct norm_gradients *to;
    void *dx;
};

struct norm_run_sums {
    template <typename T, typename Gradient>
    static cudaError_t run(const struct norm_backward_call &call, const Gradient &gradient)
    {
        norm_backward_sums_work<T, Gradient> work;
        norm_backward_sums_finish<T> finish;
        work.gradient = gradient;
        work.g = (T *)call.b->g;
        finish.x = gradient.x;
        finish.sums = call.sums;
        finish.n = *call.n;
        finish.elements = call.elements;
        finish.to = call.elements ? *call.to : norm_gradients();
        return sums_launch(call.stream, work, finish, call.b->shape, call.memory);
    }
};

struct norm_run_apply {
    template <typename T, typename Gradient>
    static cudaError_t run(const struct norm_backward_call &call, const Gradient &gradient)
    {
        norm_backward_apply_work<T, Gradient> work;
        work.gradient = gradient;
        work.a = call.to->a;
        work.b = call.to->b;
        work.c = call.to->c;
        work.dx = (T *)call.dx;
        work.groups = (uint32_t)(call.b->shape.channels / pack<T>::size);
        work.last = tensor_size(call.b->shape) / pack<T>::size - 1;
        return each_of_tensor<T>(call.stream, work, call.b->shape);
    }
};

template <typename Run, typename T, bool has_dy2, norm_relu relu>
static cudaError_t run_of(const struct norm_backward_call &call)
{
    norm_gradient<T, has_dy2, relu> gradient;
    gradient.dy = (const T *)call.b->dy;
    gradient.dy2 = (const T *)call.b->dy2;
    gradient.x = (const T *)call.b->x;
    gradient.mask = call.b->mask;
    gradient.scale = call.n->scale;
    gradient.shift = call.n->shift;
    return Run::template run<T>(call, gradient);
}

template <typename T, bool has_dy2>
static cudaError_t sums_of(const struct norm_backward_call &call)
{
    if (!call.b->relu)
        return run_of<norm_run_sums, T, has_dy2, RELU_NONE>(call);
    if (call.b->g && !call.b->mask && !has_dy2)
        return cudaErrorInvalidValue;
    return call.b->mask ? run_of<norm_run_sums, T, has_dy2, RELU_OF_MASK>(call)
                        : run_of<norm_run_sums, T, has_dy2, RELU_OF_X>(call);
}

extern "C" cudaError_t kernel_norm_backward_sums(cudaStream_t s, const struct norm_backward *b,
                                                 const struct norm_params *n,
                                                 struct sums_memory memory, double *sums,
                                                 const double *elements,
                                                 const struct norm_gradients *out)
{
    struct norm_backward_call call = {};
    call.stream = s;
    call.b = b;
    call.n = n;
    call.memory = memory;
    call.sums = sums;
    call.elements = elements;
    call.to = out;
    if (b->type == CUDA_BF16)
        return b->dy2 ? sums_of<uint16_t, true>(call) : sums_of<uint16_t, false>(call);
    return b->dy2 ? sums_of<float, true>(call) : sums_of<float, false>(call);
}

/* What was not written down has one part, and its ReLU, if any, is that of x. */
template <typename T> static cudaError_t apply_of(const struct norm_backward_call &call)
{
    return call.b->relu ? run_of<norm_run_apply, T, false, RELU_OF_X>(call)
                        : run_of<norm_run_apply, T, false, RELU_NONE>(call);
}

extern "C" cudaError_t kernel_norm_backward_apply(cudaStream_t s, const struct norm_backward *b,
                                                  const struct norm_params *n,
                                                  const struct norm_gradients *k, void *dx)
{
    struct norm_backward from = *b;
    struct norm_backward_call call = {};
    if (b->g) {
        from.dy = b->g;
        from.relu = false;
    } else if (b->dy2 || b->mask) {
        return cudaErrorInvalidValue;
    }
    call.stream = s;
    call.b = &from;
    call.n = n;
    call.to = k;
    call.dx = dx;
    return b->type == CUDA_BF16 ? apply_of<uint16_t>(call) : apply_of<float>(call);
}

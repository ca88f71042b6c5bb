/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/activation_math.h"
#include "engine/device/cuda/norm_math.h"
#include "engine/device/cuda/sums.h"

/* Sums of x and its square, about the first number of each channel: near enough to the mean to keep
 * the squares small. */
template <typename T> struct norm_sums_work {
    struct constants {
        float origin[PACK];
    };
    typedef pack<T> loaded;
    enum { bytes = sizeof(pack<T>) };
    const T *x;

    __device__ constants prepare(uint32_t group) const
    {
        constants c;
        pack_numbers(pack_load(x, group), c.origin);
        return c;
    }
    __device__ loaded load(size_t i) const
    {
        return pack_load(x, i);
    }
    __device__ void add(size_t, const loaded &in, const constants &c, float sum[PACK],
                        float square[PACK]) const
    {
        float v[PACK];
        pack_numbers(in, v);
        for (int k = 0; k < PACK; k++) {
            const float d = v[k] - c.origin[k];
            sum[k] += d;
            square[k] += d * d;
        }
    }
};

template <typename T> struct norm_sums_finish {
    const T *x;
    uint32_t channels;
    double *sums;

    __device__ void take(uint32_t channel, double sum, double square, size_t n) const
    {
        struct norm_moments m = {sum, square};
        if (n > 0)
            m = norm_move_squares(m, (double)pack_first(x, channel), (double)n);
        sums[channel] = m.sum;
        sums[channels + channel] = m.product;
    }
};

template <typename T>
static cudaError_t norm_sums(cudaStream_t s, struct tensor_shape shape, const void *x,
                             void *scratch, double *sums)
{
    norm_sums_work<T> work;
    norm_sums_finish<T> finish;
    work.x = finish.x = (const T *)x;
    finish.channels = (uint32_t)shape.channels;
    finish.sums = sums;
    return sums_launch(s, work, finish, shape, scratch);
}

extern "C" cudaError_t kernel_norm_sums(cudaStream_t s, enum cuda_type type,
                                        struct tensor_shape shape, const void *x, void *scratch,
                                        double *sums)
{
    return type == CUDA_BF16 ? norm_sums<uint16_t>(s, shape, x, scratch, sums)
                             : norm_sums<float>(s, shape, x, scratch, sums);
}

/* y = x * scale + shift [+ residual] [ReLU]. Goes from the tensor's end to its front: its end is
 * what the sums read last, and its front what the next convolution reads first. */
template <typename T, bool has_residual> struct norm_apply_work {
    struct constants {
        float scale[PACK], shift[PACK];
    };
    struct loaded {
        pack<T> x, residual;
    };
    enum { bytes = (has_residual ? 2 : 1) * sizeof(pack<T>) };
    const float *scale, *shift;
    const T *x, *residual;
    T *y;
    bool positive;
    uint32_t groups;
    size_t last;

    __device__ constants prepare(uint32_t group) const
    {
        constants c;
        pack_channels(scale, groups - 1 - group, 0, c.scale);
        pack_channels(shift, groups - 1 - group, 0, c.shift);
        return c;
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.x = pack_load(x, last - i);
        if (has_residual)
            in.residual = pack_load(residual, last - i);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &c) const
    {
        float v[PACK], r[PACK];
        pack_numbers(in.x, v);
        if (has_residual)
            pack_numbers(in.residual, r);
        for (int k = 0; k < PACK; k++) {
            v[k] = v[k] * c.scale[k] + c.shift[k];
            if (has_residual)
                v[k] += r[k];
            if (positive)
                v[k] = relu(v[k]);
        }
        pack_store(y, last - i, v);
    }
};

template <typename T, bool has_residual>
static cudaError_t norm_apply(cudaStream_t s, struct tensor_shape shape,
                              const struct norm_params *n, const void *x, const void *residual,
                              bool relu, void *y)
{
    norm_apply_work<T, has_residual> work;
    work.scale = n->scale;
    work.shift = n->shift;
    work.x = (const T *)x;
    work.residual = (const T *)residual;
    work.y = (T *)y;
    work.positive = relu;
    work.groups = (uint32_t)shape.channels / PACK;
    work.last = tensor_size(shape) / PACK - 1;
    return each_of_tensor(s, work, shape);
}

extern "C" cudaError_t kernel_norm_apply(cudaStream_t s, enum cuda_type type,
                                         struct tensor_shape shape, const struct norm_params *n,
                                         const void *x, const void *residual, bool relu, void *y)
{
    if (type == CUDA_BF16)
        return residual ? norm_apply<uint16_t, true>(s, shape, n, x, residual, relu, y)
                        : norm_apply<uint16_t, false>(s, shape, n, x, residual, relu, y);
    return residual ? norm_apply<float, true>(s, shape, n, x, residual, relu, y)
                    : norm_apply<float, false>(s, shape, n, x, residual, relu, y);
}

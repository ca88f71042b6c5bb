/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/activation_math.h"
#include "engine/device/cuda/kernels/norm_channel.h"
#include "engine/device/cuda/kernels/sums.h"

/* Sums of x and its square, about the first number of each channel: near enough to the mean to keep
 * the squares small. */
template <typename T> struct norm_sums_work {
    enum { bytes = sizeof(pack<T>), size = pack<T>::size, resident = 4 };
    struct constants {
        float origin[size];
    };
    typedef pack<T> loaded;
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
    __device__ void add(size_t, const loaded &in, const constants &c, float sum[size],
                        float square[size]) const
    {
        float v[size];
        pack_numbers(in, v);
        for (int k = 0; k < size; k++) {
            const float d = v[k] - c.origin[k];
            sum[k] += d;
            square[k] += d * d;
        }
    }
};

template <typename T> struct norm_sums_finish {
    const T *x;
    double *sums;
    struct norm_params n;
    const double *elements; /* NULL: no statistics yet */

    __device__ void take(uint32_t c, double sum, double square, size_t count) const
    {
        struct norm_moments m = {sum, square};
        if (count > 0)
            m = norm_move_squares(m, (double)pack_first(x, c), (double)count);
        sums[c] = m.sum;
        sums[n.channels + c] = m.product;
        if (elements)
            norm_set_statistics(n, c, m, *elements);
    }
};

template <typename T>
static cudaError_t norm_sums(cudaStream_t s, struct tensor_shape shape, const void *x,
                             struct sums_memory memory, double *sums, const struct norm_params *n,
                             const double *elements)
{
    norm_sums_work<T> work;
    norm_sums_finish<T> finish;
    work.x = finish.x = (const T *)x;
    finish.sums = sums;
    finish.n = *n;
    finish.elements = elements;
    return sums_launch(s, work, finish, shape, memory);
}

extern "C" cudaError_t kernel_norm_sums(cudaStream_t s, enum cuda_type type,
                                        struct tensor_shape shape, const void *x,
                                        struct sums_memory memory, double *sums,
                                        const struct norm_params *n, const double *elements)
{
    return type == CUDA_BF16 ? norm_sums<uint16_t>(s, shape, x, memory, sums, n, elements)
                             : norm_sums<float>(s, shape, x, memory, sums, n, elements);
}

/* y = x * scale + shift [+ residual] [ReLU]. Goes from the tensor's end to its front: its end is
 * what the sums read last, and its front what the next convolution reads first. */
template <typename T, bool has_residual> struct norm_apply_work {
    enum { bytes = (has_residual ? 2 : 1) * sizeof(pack<T>), size = pack<T>::size };
    struct constants {
        float scale[size], shift[size];
    };
    struct loaded {
        pack<T> x, residual;
    };
    const float *scale, *shift;
    const T *x, *residual;
    T *y;
    uint8_t *mask;
    bool positive;
    uint32_t groups;
    size_t last;

    __device__ constants prepare(uint32_t group) const
    {
        constants c;
        pack_channels(scale, groups - 1 - group, c.scale);
        pack_channels(shift, groups - 1 - group, c.shift);
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
        float v[size], r[size];
        pack_numbers(in.x, v);
        if (has_residual)
            pack_numbers(in.residual, r);
        for (int k = 0; k < size; k++) {
            v[k] = norm_affine_at(v[k], c.scale[k], c.shift[k]);
            if (has_residual)
                v[k] += r[k];
            if (positive)
                v[k] = relu(v[k]);
        }
        pack_store(y, last - i, v);
        if (has_residual && mask) {
            uint32_t bits = 0;
            for (int k = 0; k < size; k++)
                bits |= (uint32_t)pack_stores_above_zero(y, v[k]) << k;
            mask[last - i] = (uint8_t)bits;
        }
    }
};

template <typename T, bool has_residual>
static cudaError_t norm_apply(cudaStream_t s, struct tensor_shape shape,
                              const struct norm_params *n, const void *x, const void *residual,
                              bool relu, void *y, uint8_t *mask)
{
    norm_apply_work<T, has_residual> work;
    work.scale = n->scale;
    work.shift = n->shift;
    work.x = (const T *)x;
    work.residual = (const T *)residual;
    work.y = (T *)y;
    work.mask = mask;
    work.positive = relu;
    work.groups = (uint32_t)(shape.channels / pack<T>::size);
    work.last = tensor_size(shape) / pack<T>::size - 1;
    return each_of_tensor<T>(s, work, shape);
}

extern "C" size_t kernel_norm_mask_bytes(enum cuda_type type, struct tensor_shape shape)
{
    return tensor_size(shape) * cuda_type_size(type) / 16;
}

extern "C" cudaError_t kernel_norm_apply(cudaStream_t s, enum cuda_type type,
                                         struct tensor_shape shape, const struct norm_params *n,
                                         const void *x, const void *residual, bool relu, void *y,
                                         uint8_t *mask)
{
    if (type == CUDA_BF16)
        return residual ? norm_apply<uint16_t, true>(s, shape, n, x, residual, relu, y, mask)
                        : norm_apply<uint16_t, false>(s, shape, n, x, NULL, relu, y, NULL);
    return residual ? norm_apply<float, true>(s, shape, n, x, residual, relu, y, mask)
                    : norm_apply<float, false>(s, shape, n, x, NULL, relu, y, NULL);
}

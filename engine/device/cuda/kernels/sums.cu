/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/sums.h"

extern "C" size_t kernel_sums_scratch(struct tensor_shape shape)
{
    const struct sums_layout bf16 = sums_layout_of(shape, pack<uint16_t>::size, SUMS_MOST);
    const struct sums_layout f32 = sums_layout_of(shape, pack<float>::size, SUMS_MOST);
    const size_t a = sums_scratch(&bf16, shape.channels), b = sums_scratch(&f32, shape.channels);
    return a > b ? a : b;
}

template <typename T> struct plain_sums {
    typedef each_nothing constants;
    typedef pack<T> loaded;
    enum { bytes = sizeof(pack<T>), size = pack<T>::size, resident = 4 };
    const T *x;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        return pack_load(x, i);
    }
    __device__ void add(size_t, const loaded &in, const constants &, float sum[size],
                        float[size]) const
    {
        float v[size];
        pack_numbers(in, v);
        for (int k = 0; k < size; k++)
            sum[k] += v[k];
    }
};

struct plain_finish {
    float *sums;

    __device__ void take(uint32_t channel, double sum, double, size_t) const
    {
        sums[channel] = (float)sum;
    }
};

template <typename T>
static cudaError_t channel_sums(cudaStream_t s, struct tensor_shape shape, const void *x,
                                struct sums_memory memory, float *sums)
{
    plain_sums<T> work;
    plain_finish finish;
    work.x = (const T *)x;
    finish.sums = sums;
    return sums_launch(s, work, finish, shape, memory);
}

extern "C" cudaError_t kernel_channel_sums(cudaStream_t s, enum cuda_type type,
                                           struct tensor_shape shape, const void *x,
                                           struct sums_memory memory, float *sums)
{
    return type == CUDA_BF16 ? channel_sums<uint16_t>(s, shape, x, memory, sums)
                             : channel_sums<float>(s, shape, x, memory, sums);
}

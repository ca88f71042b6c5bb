/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/sums.h"

extern "C" size_t kernel_sums_scratch(struct tensor_shape shape)
{
    return sums_scratch(shape);
}

template <typename T> struct plain_sums {
    typedef each_nothing constants;
    typedef pack<T> loaded;
    enum { bytes = sizeof(pack<T>) };
    const T *x;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        return pack_load(x, i);
    }
    __device__ void add(size_t, const loaded &in, const constants &, float sum[PACK],
                        float[PACK]) const
    {
        float v[PACK];
        pack_numbers(in, v);
        for (int k = 0; k < PACK; k++)
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
                                void *scratch, float *sums)
{
    plain_sums<T> work;
    plain_finish finish;
    work.x = (const T *)x;
    finish.sums = sums;
    return sums_launch(s, work, finish, shape, scratch);
}

extern "C" cudaError_t kernel_channel_sums(cudaStream_t s, enum cuda_type type,
                                           struct tensor_shape shape, const void *x, void *scratch,
                                           float *sums)
{
    return type == CUDA_BF16 ? channel_sums<uint16_t>(s, shape, x, scratch, sums)
                             : channel_sums<float>(s, shape, x, scratch, sums);
}

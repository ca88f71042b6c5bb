/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/activation_math.h"
#include "engine/device/cuda/each.h"

/* Sums of two tensors, and tensors in another type. */

template <typename T> struct addition {
    typedef each_nothing constants;
    struct loaded {
        pack<T> a, b;
    };
    enum { bytes = 2 * sizeof(pack<T>) };
    const T *a, *b;
    T *y;
    bool positive;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        loaded in;
        in.a = pack_load(a, i);
        in.b = pack_load(b, i);
        return in;
    }
    __device__ void finish(size_t i, const loaded &in, const constants &) const
    {
        float left[PACK], right[PACK];
        pack_numbers(in.a, left);
        pack_numbers(in.b, right);
        for (int k = 0; k < PACK; k++) {
            left[k] += right[k];
            if (positive)
                left[k] = relu(left[k]);
        }
        pack_store(y, i, left);
    }
};

template <typename T>
static cudaError_t add(cudaStream_t s, size_t count, const void *a, const void *b, bool relu,
                       void *y)
{
    addition<T> work;
    work.a = (const T *)a;
    work.b = (const T *)b;
    work.y = (T *)y;
    work.positive = relu;
    return each_launch(s, work, count / PACK, 1);
}

extern "C" cudaError_t kernel_add(cudaStream_t s, enum cuda_type type, size_t count, const void *a,
                                  const void *b, bool relu, void *y)
{
    return type == CUDA_BF16 ? add<uint16_t>(s, count, a, b, relu, y)
                             : add<float>(s, count, a, b, relu, y);
}

template <typename From, typename To> struct conversion {
    typedef each_nothing constants;
    typedef pack<From> loaded;
    enum { bytes = sizeof(pack<From>) };
    const From *x;
    To *y;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        return pack_load(x, i);
    }
    __device__ void finish(size_t i, const loaded &in, const constants &) const
    {
        float numbers[PACK];
        pack_numbers(in, numbers);
        pack_store(y, i, numbers);
    }
};

template <typename From, typename To>
static cudaError_t convert(cudaStream_t s, const void *x, void *y, size_t count)
{
    conversion<From, To> work;
    work.x = (const From *)x;
    work.y = (To *)y;
    return each_launch(s, work, count / PACK, 1);
}

extern "C" cudaError_t kernel_convert(cudaStream_t s, enum cuda_type from, const void *x,
                                      enum cuda_type to, void *y, size_t count)
{
    if (from == to)
        return cudaMemcpyAsync(y, x, count * cuda_type_size(to), cudaMemcpyDeviceToDevice, s);
    return from == CUDA_BF16 ? convert<uint16_t, float>(s, x, y, count)
                             : convert<float, uint16_t>(s, x, y, count);
}

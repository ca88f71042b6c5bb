/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/activation_math.h"
#include "engine/device/cuda/kernels/each.h"

/* Sums of two tensors, and numbers in another type. */

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
        float left[pack<T>::size], right[pack<T>::size];
        pack_numbers(in.a, left);
        pack_numbers(in.b, right);
        for (int k = 0; k < pack<T>::size; k++) {
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
    return each_launch(s, work, count / pack<T>::size, 1);
}

extern "C" cudaError_t kernel_add(cudaStream_t s, enum cuda_type type, size_t count, const void *a,
                                  const void *b, bool relu, void *y)
{
    return type == CUDA_BF16 ? add<uint16_t>(s, count, a, b, relu, y)
                             : add<float>(s, count, a, b, relu, y);
}

/* By 4 numbers, so that reads and writes are without gaps in both types. */
template <typename From, typename To> struct conversion {
    typedef each_nothing constants;
    typedef float4 loaded;
    enum { bytes = sizeof(float4) };
    const From *x;
    To *y;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t i) const
    {
        return quad_load(x, i);
    }
    __device__ void finish(size_t i, const loaded &in, const constants &) const
    {
        quad_store(y, i, in);
    }
};

template <typename From, typename To>
static cudaError_t convert(cudaStream_t s, const void *x, void *y, size_t count)
{
    conversion<From, To> work;
    work.x = (const From *)x;
    work.y = (To *)y;
    return each_launch(s, work, count / 4, 1);
}

extern "C" cudaError_t kernel_convert(cudaStream_t s, enum cuda_type from, const void *x,
                                      enum cuda_type to, void *y, size_t count)
{
    if (from == to)
        return cudaMemcpyAsync(y, x, count * cuda_type_size(to), cudaMemcpyDeviceToDevice, s);
    return from == CUDA_BF16 ? convert<uint16_t, float>(s, x, y, count)
                             : convert<float, uint16_t>(s, x, y, count);
}

/* A block widens WIDEN_BLOCK numbers of one span. */
enum { WIDEN_QUADS = 4, WIDEN_BLOCK = 4 * WIDEN_QUADS * EACH_THREADS };

struct widen_call {
    struct widen_span spans[WIDEN_SPANS];
    uint32_t ends[WIDEN_SPANS]; /* blocks of this span and those before */
};

static __global__ void widen_spans(const __grid_constant__ struct widen_call call)
{
    int k = 0;
    while (blockIdx.x >= call.ends[k])
        k++;
    const struct widen_span &span = call.spans[k];
    const uint32_t block = blockIdx.x - (k > 0 ? call.ends[k - 1] : 0);
    const size_t first = (size_t)block * (WIDEN_BLOCK / 4) + threadIdx.x, count = span.count / 4;
    float4 x[WIDEN_QUADS];
#pragma unroll
    for (int j = 0; j < WIDEN_QUADS; j++)
        if (first + j * EACH_THREADS < count)
            x[j] = quad_load(span.from, first + j * EACH_THREADS);
#pragma unroll
    for (int j = 0; j < WIDEN_QUADS; j++)
        if (first + j * EACH_THREADS < count)
            quad_store(span.to, first + j * EACH_THREADS, x[j]);
}

extern "C" cudaError_t kernel_widen(cudaStream_t s, const struct widen_span *spans, int span_count)
{
    struct widen_call call = {};
    size_t blocks = 0;
    if (span_count < 1 || span_count > WIDEN_SPANS)
        return cudaErrorInvalidValue;
    for (int k = 0; k < span_count; k++) {
        call.spans[k] = spans[k];
        blocks += each_divided(spans[k].count, WIDEN_BLOCK);
        call.ends[k] = (uint32_t)blocks;
    }
    if (blocks == 0)
        return cudaSuccess;
    return LAUNCH(widen_spans, dim3((uint32_t)blocks), dim3(EACH_THREADS), 0, s, call);
}

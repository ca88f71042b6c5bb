/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"

/* The mean over all pixels, and its gradient. */

enum { GLOBAL_THREADS = 256, GLOBAL_GROUPS = 32 };

/*
 * A block makes up to 32 packs of one row: neighbouring threads read neighbouring packs, several
 * such lanes share the pixels, and their sums are added pairwise in a fixed order.
 */
template <typename T>
__global__ void global_mean(const T *x, T *y, uint32_t pixels, uint32_t groups, uint32_t width)
{
    __shared__ float shared[pack<T>::size][GLOBAL_THREADS];
    const uint32_t lanes = blockDim.x / width, lane = threadIdx.x / width;
    const uint32_t group = blockIdx.y * width + threadIdx.x % width;
    const T *row = x + (size_t)blockIdx.x * pixels * groups * pack<T>::size;
    float sum[pack<T>::size] = {}, v[pack<T>::size];
    if (group < groups) {
#pragma unroll 4
        for (uint32_t p = lane; p < pixels; p += lanes) {
            pack_numbers(pack_load(row, (size_t)p * groups + group), v);
            for (int k = 0; k < pack<T>::size; k++)
                sum[k] += v[k];
        }
    }
    for (int k = 0; k < pack<T>::size; k++)
        shared[k][threadIdx.x] = sum[k];
    for (uint32_t count = lanes; count > 1; count = (count + 1) / 2) {
        const uint32_t distance = (count + 1) / 2;
        __syncthreads();
        if (lane + distance < count)
            for (int k = 0; k < pack<T>::size; k++)
                shared[k][threadIdx.x] += shared[k][threadIdx.x + distance * width];
    }
    if (lane > 0 || group >= groups)
        return;
    for (int k = 0; k < pack<T>::size; k++)
        v[k] = shared[k][threadIdx.x] / (float)pixels;
    pack_store(y, (size_t)blockIdx.x * groups + group, v);
}

template <typename T>
static cudaError_t forward(cudaStream_t s, struct tensor_shape shape, const void *x, void *y)
{
    const uint32_t pixels = (uint32_t)(shape.h * shape.w),
                   groups = (uint32_t)shape.channels / pack<T>::size;
    const uint32_t tiles = (uint32_t)each_divided(groups, GLOBAL_GROUPS);
    const uint32_t width = (uint32_t)each_divided(groups, tiles);
    const uint32_t fitting = GLOBAL_THREADS / width, lanes = fitting < pixels ? fitting : pixels;
    if (shape.rows == 0)
        return cudaSuccess;
    return LAUNCH(global_mean<T>, dim3((uint32_t)shape.rows, tiles), dim3(lanes * width), 0, s,
                  (const T *)x, (T *)y, pixels, groups, width);
}

extern "C" cudaError_t kernel_global_avgpool(cudaStream_t s, enum cuda_type type,
                                             struct tensor_shape x_shape, const void *x, void *y)
{
    return type == CUDA_BF16 ? forward<uint16_t>(s, x_shape, x, y)
                             : forward<float>(s, x_shape, x, y);
}

template <typename T> struct global_backward_work {
    typedef each_nothing constants;
    typedef pack<T> loaded;
    enum { bytes = sizeof(pack<T>) };
    const T *dy;
    T *dx;
    uint32_t pixels, groups;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    /* Tensors have fewer than 2^32 packs. */
    __device__ loaded load(size_t i) const
    {
        const uint32_t row = (uint32_t)i / (pixels * groups);
        return pack_load(dy, (size_t)row * groups + (uint32_t)i % groups);
    }
    __device__ void finish(size_t i, const loaded &in, const constants &) const
    {
        float v[pack<T>::size];
        pack_numbers(in, v);
        for (int k = 0; k < pack<T>::size; k++)
            v[k] /= (float)pixels;
        pack_store(dx, i, v);
    }
};

template <typename T>
static cudaError_t backward(cudaStream_t s, struct tensor_shape shape, const void *dy, void *dx)
{
    global_backward_work<T> work;
    work.dy = (const T *)dy;
    work.dx = (T *)dx;
    work.pixels = (uint32_t)(shape.h * shape.w);
    work.groups = (uint32_t)shape.channels / pack<T>::size;
    return each_of_tensor<T>(s, work, shape);
}

extern "C" cudaError_t kernel_global_avgpool_backward(cudaStream_t s, enum cuda_type type,
                                                      struct tensor_shape x_shape, const void *dy,
                                                      void *dx)
{
    return type == CUDA_BF16 ? backward<uint16_t>(s, x_shape, dy, dx)
                             : backward<float>(s, x_shape, dy, dx);
}

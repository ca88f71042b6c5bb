/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"

/*
 * Between channels last and c,h,w order, number by number: rows of flattened pictures are small and
 * stay in the cache, so it does not matter that one of the two sides is read or written in strides.
 */

/* Where a row's numbers lie: `flat` of them in c,h,w order, `last` channels last. */
struct flattening {
    uint32_t pixels, channels, real, flat, last;
};

static struct flattening flattening_of(struct tensor_shape x)
{
    struct flattening f;
    f.pixels = (uint32_t)(x.h * x.w);
    f.channels = (uint32_t)x.channels;
    f.real = (uint32_t)x.real;
    f.flat = (uint32_t)cuda_padded(x.real * x.h * x.w);
    f.last = f.pixels * f.channels;
    return f;
}

template <typename T>
__global__ void flatten(struct flattening f, size_t count, const T *x, T *flat)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const size_t row = i / f.flat;
        const uint32_t k = (uint32_t)(i % f.flat), c = k / f.pixels, pixel = k % f.pixels;
        flat[i] = c < f.real ? x[row * f.last + (size_t)pixel * f.channels + c] : (T)0;
    }
}

template <typename T>
__global__ void unflatten(struct flattening f, size_t count, const T *flat, T *x)
{
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const size_t row = i / f.last;
        const uint32_t k = (uint32_t)(i % f.last), c = k % f.channels, pixel = k / f.channels;
        x[i] = c < f.real ? flat[row * f.flat + (size_t)c * f.pixels + pixel] : (T)0;
    }
}

/* bf16 numbers are only moved, never computed with: 0 has no bits set in either type. */
template <typename T, auto kernel>
static cudaError_t launch(cudaStream_t s, struct flattening f, size_t count, const void *from,
                          void *to)
{
    uint32_t blocks = 0;
    if (count == 0)
        return cudaSuccess;
    const cudaError_t status = each_blocks<kernel>(count, 1, 1, &blocks);
    if (status != cudaSuccess)
        return status;
    return LAUNCH(kernel, dim3(blocks), dim3(EACH_THREADS), 0, s, f, count, (const T *)from,
                  (T *)to);
}

extern "C" cudaError_t kernel_flatten(cudaStream_t s, enum cuda_type type,
                                      struct tensor_shape x_shape, const void *x, void *flat)
{
    const struct flattening f = flattening_of(x_shape);
    const size_t count = (size_t)x_shape.rows * f.flat;
    return type == CUDA_BF16 ? launch<uint16_t, flatten<uint16_t>>(s, f, count, x, flat)
                             : launch<float, flatten<float>>(s, f, count, x, flat);
}

extern "C" cudaError_t kernel_unflatten(cudaStream_t s, enum cuda_type type,
                                        struct tensor_shape x_shape, const void *flat, void *x)
{
    const struct flattening f = flattening_of(x_shape);
    const size_t count = tensor_size(x_shape);
    return type == CUDA_BF16 ? launch<uint16_t, unflatten<uint16_t>>(s, f, count, flat, x)
                             : launch<float, unflatten<float>>(s, f, count, flat, x);
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/dropout_math.h"
#include "engine/device/cuda/kernels/each.h"

/*
 * A thread takes a pack of `run` neighbouring pixels, 4 where the picture's pixels are a
 * multiple of 4: then each channel needs one block of random words for its 4 pixels, instead of one
 * for every pixel. With one pixel 4 channels share a block.
 */
template <typename T, int run>
__global__ void dropout_packs(struct dropout_args args, const T *x, T *y, uint32_t stride)
{
    const uint32_t groups = (uint32_t)args.shape.channels / pack<T>::size;
    const uint32_t pixels = (uint32_t)(args.shape.h * args.shape.w), runs = pixels / run;
    const size_t items = (size_t)args.shape.rows * runs * groups;
    const struct dropout_pass pass = *args.pass;
    struct dropout_row row = {{pass.key[0], pass.key[1]}, 0, pass.epoch, args.op, args.threshold};
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < items; i += stride) {
        const uint32_t group = (uint32_t)i % groups, place = (uint32_t)i / groups;
        const uint32_t pixel = place % runs * run, n = place / runs;
        const size_t at = ((size_t)n * pixels + pixel) * groups + group;
        pack<T> in[run];
#pragma unroll
        for (int j = 0; j < run; j++)
            in[j] = pack_load(x, at + (size_t)j * groups);
        row.id = args.ids[n];
        const uint32_t kept = dropout_kept(&row, args.first + group * pack<T>::size, pack<T>::size,
                                           pixels, pixel, run);
#pragma unroll
        for (int j = 0; j < run; j++) {
            float v[pack<T>::size];
            pack_numbers(in[j], v);
            for (int k = 0; k < pack<T>::size; k++)
                v[k] = kept >> (8 * j + k) & 1 ? v[k] * args.scale : 0;
            pack_store(y, at + (size_t)j * groups, v);
        }
    }
}

template <typename T, int run>
static cudaError_t launch(cudaStream_t s, const struct dropout_args *args, const void *x, void *y)
{
    const size_t items = tensor_size(args->shape) / pack<T>::size / run;
    uint32_t blocks = 0;
    if (items == 0)
        return cudaSuccess;
    const cudaError_t status = each_blocks<dropout_packs<T, run>>(items, 1, 1, &blocks);
    if (status != cudaSuccess)
        return status;
    auto kernel = dropout_packs<T, run>;
    return LAUNCH(kernel, dim3(blocks), dim3(EACH_THREADS), 0, s, *args, (const T *)x, (T *)y,
                  blocks * EACH_THREADS);
}

template <typename T>
static cudaError_t dropout(cudaStream_t s, const struct dropout_args *args, const void *x, void *y)
{
    return args->shape.h * args->shape.w % 4 == 0 ? launch<T, 4>(s, args, x, y)
                                                  : launch<T, 1>(s, args, x, y);
}

extern "C" cudaError_t kernel_dropout(cudaStream_t s, enum cuda_type type,
                                      const struct dropout_args *args, const void *x, void *y)
{
    return type == CUDA_BF16 ? dropout<uint16_t>(s, args, x, y) : dropout<float>(s, args, x, y);
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"
#include "engine/device/cuda/kernels/input_math.h"

enum { INPUT_THREADS = 256, INPUT_PACKS = 4 }; /* packs that are worth a thread */

/* A row of the data, and what augmentation makes of it. */
struct input_row {
    const uint8_t *pixels;
    const float *numbers;
    struct augment_change change;
};

static __device__ struct input_row input_row_of(const struct input_args &a, uint32_t i)
{
    const uint32_t row = a.index ? a.index[i] : i, id = a.ids ? a.ids[i] : row;
    const size_t start = (size_t)row * a.channels * a.h * a.w;
    struct input_row r;
    r.pixels = a.pixels ? a.pixels + start : NULL;
    r.numbers = a.pixels ? NULL : a.numbers + start;
    r.change =
        picture_change_of(a.augment.key, a.augment.epoch, id, a.pixels ? a.augment.flags : 0);
    return r;
}

/* The network's number at channel c, place (y, x); zero in the padding. */
static __device__ float input_number(const struct input_args &a, const struct input_row &r, int c,
                                     int y, int x)
{
    if (y < 0 || y >= a.h || x < 0 || x >= a.w)
        return 0;
    const int plane = c * a.h * a.w;
    if (r.numbers)
        return r.numbers[plane + y * a.w + x];
    const int from = augment_source(r.change, y, x, a.h, a.w);
    const float pixel = from < 0 ? 0 : (float)r.pixels[plane + from];
    return pixel * a.scale[c] + a.shift[c];
}

/* The columns of pack `group`, of output place (y, x): channels of a picture are the taps of a
 * window of one pixel. */
template <int size>
static __device__ void input_pack(const struct input_args &a, const struct input_row &r,
                                  uint32_t group, int y, int x, float (&v)[size])
{
    const int taps = a.kernel_h * a.kernel_w * a.channels;
    struct tap t = tap_of((int)group * size, a.kernel_w, a.channels);
    y = y * a.stride_h - a.pad_h;
    x = x * a.stride_w - a.pad_w;
    for (int k = 0; k < size; k++) {
        v[k] = 0;
        if ((int)group * size + k < taps)
            v[k] = input_number(a, r, t.channel, y + t.ky, x + t.kx);
        t = tap_next(t, a.kernel_w, a.channels);
    }
}

/* blockIdx.x is the row; blockIdx.y and the threads share its packs. */
template <typename T> __global__ void input_rows(struct input_args a)
{
    const uint32_t groups = (uint32_t)a.y_shape.channels / pack<T>::size;
    const uint32_t packs = (uint32_t)(a.y_shape.h * a.y_shape.w) * groups;
    const struct input_row r = input_row_of(a, blockIdx.x);
    T *to = (T *)a.y + (size_t)blockIdx.x * packs * pack<T>::size;
    for (uint32_t i = blockIdx.y * blockDim.x + threadIdx.x; i < packs;
         i += gridDim.y * blockDim.x) {
        const uint32_t place = i / groups, w = (uint32_t)a.y_shape.w;
        float v[pack<T>::size];
        input_pack(a, r, i % groups, (int)(place / w), (int)(place % w), v);
        pack_store(to, i, v);
    }
}

extern "C" cudaError_t kernel_input(cudaStream_t s, const struct input_args *args)
{
    struct input_args a = *args;
    if (a.kernel_h == 0) {
        a.kernel_h = a.kernel_w = a.stride_h = a.stride_w = 1;
        a.pad_h = a.pad_w = 0;
    }
    const size_t size = sizeof(uint4) / cuda_type_size(a.type);
    const size_t packs = (size_t)a.y_shape.h * a.y_shape.w * a.y_shape.channels / size;
    const dim3 grid((uint32_t)a.y_shape.rows,
                    (uint32_t)each_divided(packs, INPUT_THREADS * INPUT_PACKS));
    if (a.y_shape.rows == 0)
        return cudaSuccess;
    if (a.type == CUDA_BF16)
        return LAUNCH(input_rows<uint16_t>, grid, dim3(INPUT_THREADS), 0, s, a);
    return LAUNCH(input_rows<float>, grid, dim3(INPUT_THREADS), 0, s, a);
}

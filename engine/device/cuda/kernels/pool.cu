/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "engine/device/cuda/kernels/each.h"
#include "engine/device/cuda/kernels/window_math.h"

/*
 * Max and average pooling. A thread makes a pack of one pixel: of the output going forward; of
 * the input going backward, where it gathers from all windows that cover the pixel, in their order,
 * so that nothing has to be added atomically.
 */

static __device__ struct span inputs_y(const struct pool_args &a, int y)
{
    return window_inputs(y, a.kernel_h, a.stride_h, a.pad_h, a.x.h);
}

static __device__ struct span inputs_x(const struct pool_args &a, int x)
{
    return window_inputs(x, a.kernel_w, a.stride_w, a.pad_w, a.x.w);
}

static __device__ struct span outputs_y(const struct pool_args &a, int y)
{
    return window_outputs(y, a.kernel_h, a.stride_h, a.pad_h, a.y.h);
}

static __device__ struct span outputs_x(const struct pool_args &a, int x)
{
    return window_outputs(x, a.kernel_w, a.stride_w, a.pad_w, a.y.w);
}

/* What a window's tap at input (y, x) is called in `winners`. */
static __device__ uint32_t tap_at(const struct pool_args &a, int oy, int ox, int y, int x)
{
    return (uint32_t)((y - (oy * a.stride_h - a.pad_h)) * a.kernel_w + x -
                      (ox * a.stride_w - a.pad_w));
}

/* A byte for each number of pack i. */
static __device__ void store_winners(uint8_t *winners, size_t i, const uint32_t (&winner)[8])
{
    uint2 bytes = make_uint2(0, 0);
    for (int k = 0; k < 4; k++) {
        bytes.x |= winner[k] << (8 * k);
        bytes.y |= winner[4 + k] << (8 * k);
    }
    reinterpret_cast<uint2 *>(winners)[i] = bytes;
}

static __device__ void store_winners(uint8_t *winners, size_t i, const uint32_t (&winner)[4])
{
    reinterpret_cast<uint32_t *>(winners)[i] =
        winner[0] | winner[1] << 8 | winner[2] << 16 | winner[3] << 24;
}

static __device__ void load_winners(const uint8_t *winners, size_t i, uint32_t (&winner)[8])
{
    const uint2 bytes = reinterpret_cast<const uint2 *>(winners)[i];
    for (int k = 0; k < 8; k++)
        winner[k] = (k < 4 ? bytes.x : bytes.y) >> (8 * (k % 4)) & 255;
}

static __device__ void load_winners(const uint8_t *winners, size_t i, uint32_t (&winner)[4])
{
    const uint32_t bytes = reinterpret_cast<const uint32_t *>(winners)[i];
    for (int k = 0; k < 4; k++)
        winner[k] = bytes >> (8 * k) & 255;
}

template <typename T> struct pool_work {
    typedef each_nothing constants;
    typedef each_nothing loaded;
    enum { bytes = 64 }; /* one at a time: each has several loads of its own */
    struct pool_args args;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t) const
    {
        return loaded();
    }
};

/* The first of equal numbers wins; a NaN wins against all. */
template <typename T> struct maxpool_work : pool_work<T> {
    const T *x;
    T *y;
    uint8_t *winners;

    __device__ void finish(size_t i, const each_nothing &, const each_nothing &) const
    {
        const struct pool_args &a = this->args;
        const struct pack_place p = place_of<T>(i, a.y);
        const struct span across = inputs_x(a, p.x), down = inputs_y(a, p.y);
        float best[pack<T>::size], v[pack<T>::size];
        uint32_t winner[pack<T>::size];
        for (int k = 0; k < pack<T>::size; k++) {
            best[k] = -INFINITY;
            winner[k] = tap_at(a, p.y, p.x, down.first, across.first);
        }
        for (int iy = down.first; iy < down.end; iy++) {
            for (int ix = across.first; ix < across.end; ix++) {
                const uint32_t tap = tap_at(a, p.y, p.x, iy, ix);
                pack_numbers(pack_load(x, pack_at<T>(a.x, p, iy, ix)), v);
                for (int k = 0; k < pack<T>::size; k++) {
                    const bool wins = v[k] > best[k] || v[k] != v[k];
                    best[k] = wins ? v[k] : best[k];
                    winner[k] = wins ? tap : winner[k];
                }
            }
        }
        pack_store(y, i, best);
        if (winners)
            store_winners(winners, i, winner);
    }
};

template <typename T> struct maxpool_backward_work : pool_work<T> {
    const T *dy;
    const uint8_t *winners;
    T *dx;

    __device__ void finish(size_t i, const each_nothing &, const each_nothing &) const
    {
        const struct pool_args &a = this->args;
        const struct pack_place p = place_of<T>(i, a.x);
        const struct span across = outputs_x(a, p.x), down = outputs_y(a, p.y);
        float sum[pack<T>::size] = {}, v[pack<T>::size];
        for (int oy = down.first; oy < down.end; oy++) {
            for (int ox = across.first; ox < across.end; ox++) {
                const uint32_t tap = tap_at(a, oy, ox, p.y, p.x);
                const size_t at = pack_at<T>(a.y, p, oy, ox);
                uint32_t winner[pack<T>::size];
                load_winners(winners, at, winner);
                pack_numbers(pack_load(dy, at), v);
                for (int k = 0; k < pack<T>::size; k++)
                    if (winner[k] == tap)
                        sum[k] += v[k];
            }
        }
        pack_store(dx, i, sum);
    }
};

static __device__ float size_of(const struct span &down, const struct span &across)
{
    return (float)((down.end - down.first) * (across.end - across.first));
}

static __device__ float size_of_window(const struct pool_args &a)
{
    return (float)(a.kernel_h * a.kernel_w);
}

template <typename T> struct avgpool_work : pool_work<T> {
    const T *x;
    T *y;

    __device__ void finish(size_t i, const each_nothing &, const each_nothing &) const
    {
        const struct pool_args &a = this->args;
        const struct pack_place p = place_of<T>(i, a.y);
        const struct span across = inputs_x(a, p.x), down = inputs_y(a, p.y);
        const float size = a.exclude_pad ? size_of(down, across) : size_of_window(a);
        float sum[pack<T>::size] = {}, v[pack<T>::size];
        for (int iy = down.first; iy < down.end; iy++) {
            for (int ix = across.first; ix < across.end; ix++) {
                pack_numbers(pack_load(x, pack_at<T>(a.x, p, iy, ix)), v);
                for (int k = 0; k < pack<T>::size; k++)
                    sum[k] += v[k];
            }
        }
        for (int k = 0; k < pack<T>::size; k++)
            sum[k] /= size;
        pack_store(y, i, sum);
    }
};

/* Without the padding each window has its own size. */
template <typename T, bool EXCLUDE> struct avgpool_backward_work : pool_work<T> {
    const T *dy;
    T *dx;

    __device__ void finish(size_t i, const each_nothing &, const each_nothing &) const
    {
        const struct pool_args &a = this->args;
        const struct pack_place p = place_of<T>(i, a.x);
        const struct span across = outputs_x(a, p.x), down = outputs_y(a, p.y);
        float sum[pack<T>::size] = {}, v[pack<T>::size];
        for (int oy = down.first; oy < down.end; oy++) {
            for (int ox = across.first; ox < across.end; ox++) {
                const float size = EXCLUDE ? size_of(inputs_y(a, oy), inputs_x(a, ox)) : 1;
                pack_numbers(pack_load(dy, pack_at<T>(a.y, p, oy, ox)), v);
                for (int k = 0; k < pack<T>::size; k++)
                    sum[k] += EXCLUDE ? v[k] / size : v[k];
            }
        }
        for (int k = 0; k < pack<T>::size && !EXCLUDE; k++)
            sum[k] /= size_of_window(a);
        pack_store(dx, i, sum);
    }
};

template <typename T>
static cudaError_t maxpool(cudaStream_t s, const struct pool_args *args, const void *x, void *y,
                           uint8_t *winners)
{
    maxpool_work<T> work;
    work.args = *args;
    work.x = (const T *)x;
    work.y = (T *)y;
    work.winners = winners;
    return each_of_tensor<T>(s, work, args->y);
}

template <typename T>
static cudaError_t maxpool_backward(cudaStream_t s, const struct pool_args *args, const void *dy,
                                    const uint8_t *winners, void *dx)
{
    maxpool_backward_work<T> work;
    work.args = *args;
    work.dy = (const T *)dy;
    work.winners = winners;
    work.dx = (T *)dx;
    return each_of_tensor<T>(s, work, args->x);
}

template <typename T>
static cudaError_t avgpool(cudaStream_t s, const struct pool_args *args, const void *x, void *y)
{
    avgpool_work<T> work;
    work.args = *args;
    work.x = (const T *)x;
    work.y = (T *)y;
    return each_of_tensor<T>(s, work, args->y);
}

template <typename T, bool EXCLUDE>
static cudaError_t avgpool_backward(cudaStream_t s, const struct pool_args *args, const void *dy,
                                    void *dx)
{
    avgpool_backward_work<T, EXCLUDE> work;
    work.args = *args;
    work.dy = (const T *)dy;
    work.dx = (T *)dx;
    return each_of_tensor<T>(s, work, args->x);
}

extern "C" cudaError_t kernel_maxpool(cudaStream_t s, enum cuda_type type,
                                      const struct pool_args *args, const void *x, void *y,
                                      uint8_t *winners)
{
    return type == CUDA_BF16 ? maxpool<uint16_t>(s, args, x, y, winners)
                             : maxpool<float>(s, args, x, y, winners);
}

extern "C" cudaError_t kernel_maxpool_backward(cudaStream_t s, enum cuda_type type,
                                               const struct pool_args *args, const void *dy,
                                               const uint8_t *winners, void *dx)
{
    return type == CUDA_BF16 ? maxpool_backward<uint16_t>(s, args, dy, winners, dx)
                             : maxpool_backward<float>(s, args, dy, winners, dx);
}

extern "C" cudaError_t kernel_avgpool(cudaStream_t s, enum cuda_type type,
                                      const struct pool_args *args, const void *x, void *y)
{
    return type == CUDA_BF16 ? avgpool<uint16_t>(s, args, x, y) : avgpool<float>(s, args, x, y);
}

extern "C" cudaError_t kernel_avgpool_backward(cudaStream_t s, enum cuda_type type,
                                               const struct pool_args *args, const void *dy,
                                               void *dx)
{
    if (args->exclude_pad)
        return type == CUDA_BF16 ? avgpool_backward<uint16_t, true>(s, args, dy, dx)
                                 : avgpool_backward<float, true>(s, args, dy, dx);
    return type == CUDA_BF16 ? avgpool_backward<uint16_t, false>(s, args, dy, dx)
                             : avgpool_backward<float, false>(s, args, dy, dx);
}

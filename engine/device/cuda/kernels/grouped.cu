/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"

/*
 * Convolution in groups, above all depthwise, where each output channel reads one input channel:
 * little arithmetic for what is read, so that plain loops are enough. In both directions of values
 * a thread makes a pack of one pixel; going backward it gathers from all windows that cover the
 * pixel, in their order, so that nothing has to be added atomically.
 */

/* A number of the window: tap (ky, kx), the index-th of all. */
struct window_tap {
    int ky, kx, index;
};

static __device__ bool is_depthwise(const struct grouped_conv &c)
{
    return c.in == 1 && c.out == 1;
}

/* The input that a tap of output (y, x) reads; false: the padding. */
static __device__ bool input_of(const struct grouped_conv &c, int y, int x,
                                const struct window_tap &t, int *iy, int *ix)
{
    *iy = y * c.stride_h - c.pad_h + t.ky * c.dilation_h;
    *ix = x * c.stride_w - c.pad_w + t.kx * c.dilation_w;
    return *iy >= 0 && *iy < c.x.h && *ix >= 0 && *ix < c.x.w;
}

/* The output whose tap reads input (y, x); false: there is none. */
static __device__ bool output_of(const struct grouped_conv &c, int y, int x,
                                 const struct window_tap &t, int *oy, int *ox)
{
    const int down = y + c.pad_h - t.ky * c.dilation_h, across = x + c.pad_w - t.kx * c.dilation_w;
    *oy = down / c.stride_h;
    *ox = across / c.stride_w;
    return down >= 0 && across >= 0 && down % c.stride_h == 0 && across % c.stride_w == 0 &&
           *oy < c.y.h && *ox < c.y.w;
}

/* Where the weights of channel `channel` of y and a tap are, one for each input of its group. */
template <typename T>
static __device__ const T *weights_at(const struct grouped_conv &c, const T *w, int channel,
                                      const struct window_tap &t)
{
    const size_t taps = (size_t)c.kernel_h * c.kernel_w;
    return w + (channel * taps + t.index) * c.in;
}

/*
 * sum[k] += what this tap gives channel first + k of a pixel: of y from one of x, or, backward, of
 * x from one of y.
 */
template <bool backward, typename T, int size>
static __device__ void add_tap(const struct grouped_conv &c, const struct window_tap &t,
                               const T *pixel, const T *w, int first, float (&sum)[size])
{
    const int made = backward ? c.in : c.out, read = backward ? c.out : c.in; /* of a group */
    const int real = backward ? c.x.real : c.y.real;
    float v[size];
    if (is_depthwise(c))
        pack_numbers(pack_load(pixel, (size_t)first / size), v);
#pragma unroll
    for (int k = 0; k < size; k++) {
        if (first + k >= real)
            continue;
        const int group = (first + k) / made, of_group = (first + k) % made;
        for (int i = 0; i < read; i++) {
            const T *weights = weights_at(c, w, group * c.out + (backward ? i : of_group), t);
            sum[k] += (is_depthwise(c) ? v[k] : pack_first(pixel, group * read + i)) *
                      pack_first(weights, backward ? of_group : i);
        }
    }
}

template <typename T, bool backward> struct grouped_work {
    typedef each_nothing constants;
    typedef each_nothing loaded;
    enum { bytes = 64 }; /* one at a time: each has several loads of its own */
    struct grouped_conv conv;
    const T *from, *w;
    T *to;

    __device__ constants prepare(uint32_t) const
    {
        return constants();
    }
    __device__ loaded load(size_t) const
    {
        return loaded();
    }
    __device__ void finish(size_t i, const each_nothing &, const each_nothing &) const
    {
        const struct tensor_shape &source = backward ? conv.y : conv.x;
        const struct pack_place p = place_of<T>(i, backward ? conv.x : conv.y);
        const int first = (int)(p.group * pack<T>::size);
        float sum[pack<T>::size] = {};
        struct window_tap t = {0, 0, 0};
        for (t.ky = 0; t.ky < conv.kernel_h; t.ky++) {
            for (t.kx = 0; t.kx < conv.kernel_w; t.kx++, t.index++) {
                int y, x;
                if (!(backward ? output_of(conv, p.y, p.x, t, &y, &x)
                               : input_of(conv, p.y, p.x, t, &y, &x)))
                    continue;
                const T *pixel = from + pixel_at(source, p.row, y, x) * source.channels;
                add_tap<backward>(conv, t, pixel, w, first, sum);
            }
        }
        pack_store(to, i, sum);
    }
};

enum {
    WEIGHTS_THREADS = 256,
    WEIGHTS_RUN = 256, /* numbers added in f32 */
};

/* dw[k] += of channel first + k, over the positions of a thread. */
template <typename T, int size>
static __device__ void sum_positions(const struct grouped_conv &c, const T *x, const T *dy,
                                     const struct window_tap &t, int first, int input,
                                     double (&dw)[size])
{
    const size_t positions = (size_t)c.y.rows * c.y.h * c.y.w;
    float run[size] = {}, d[size];
    int added = 0;
    for (size_t at = threadIdx.x; at < positions; at += WEIGHTS_THREADS) {
        const int ox = (int)(at % c.y.w), oy = (int)(at / c.y.w % c.y.h);
        const int row = (int)(at / c.y.w / c.y.h);
        int iy, ix;
        if (!input_of(c, oy, ox, t, &iy, &ix))
            continue;
        const T *pixel = x + pixel_at(c.x, row, iy, ix) * c.x.channels;
        pack_numbers(pack_load(dy + at * c.y.channels, (size_t)first / size), d);
#pragma unroll
        for (int k = 0; k < size; k++)
            if (first + k < c.y.real)
                run[k] += d[k] * pack_first(pixel, (first + k) / c.out * c.in + input);
        if (++added < WEIGHTS_RUN)
            continue;
        for (int k = 0; k < size; k++) {
            dw[k] += (double)run[k];
            run[k] = 0;
        }
        added = 0;
    }
    for (int k = 0; k < size; k++)
        dw[k] += (double)run[k];
}

/* A block for each pack of channels of y, each tap and each input of a group. */
template <typename T>
__global__ void grouped_weights(struct grouped_conv c, const T *x, const T *dy, float *dw)
{
    enum { size = pack<T>::size };
    __shared__ double shared[size][WEIGHTS_THREADS];
    const int taps = c.kernel_h * c.kernel_w, input = (int)(blockIdx.x % c.in);
    const int tap = (int)(blockIdx.x / c.in % taps), first = (int)(blockIdx.x / c.in / taps) * size;
    const struct window_tap t = {tap / c.kernel_w, tap % c.kernel_w, tap};
    double sum[size] = {};
    sum_positions(c, x, dy, t, first, input, sum);
    for (int k = 0; k < size; k++)
        shared[k][threadIdx.x] = sum[k];
    for (uint32_t distance = WEIGHTS_THREADS / 2; distance > 0; distance /= 2) {
        __syncthreads();
        for (int k = 0; k < size && threadIdx.x < distance; k++)
            shared[k][threadIdx.x] += shared[k][threadIdx.x + distance];
    }
    __syncthreads();
    if (threadIdx.x < size && first + (int)threadIdx.x < c.y.real)
        dw[weights_at(c, dw, first + (int)threadIdx.x, t) - dw + input] =
            (float)shared[threadIdx.x][0];
}

template <typename T, bool backward>
static cudaError_t values(cudaStream_t s, const struct grouped_conv *conv, const void *from,
                          const void *w, void *to)
{
    grouped_work<T, backward> work;
    work.conv = *conv;
    work.from = (const T *)from;
    work.w = (const T *)w;
    work.to = (T *)to;
    return each_of_tensor<T>(s, work, backward ? conv->x : conv->y);
}

template <typename T>
static cudaError_t weights(cudaStream_t s, const struct grouped_conv *conv, const void *x,
                           const void *dy, float *dw)
{
    const uint32_t packs = (uint32_t)each_divided((size_t)conv->y.real, pack<T>::size);
    const uint32_t taps = (uint32_t)(conv->kernel_h * conv->kernel_w);
    return LAUNCH(grouped_weights<T>, dim3(packs * taps * (uint32_t)conv->in),
                  dim3(WEIGHTS_THREADS), 0, s, *conv, (const T *)x, (const T *)dy, dw);
}

extern "C" cudaError_t kernel_grouped_conv(cudaStream_t s, enum cuda_type type,
                                           const struct grouped_conv *conv, const void *x,
                                           const void *w, void *y)
{
    return type == CUDA_BF16 ? values<uint16_t, false>(s, conv, x, w, y)
                             : values<float, false>(s, conv, x, w, y);
}

extern "C" cudaError_t kernel_grouped_conv_data(cudaStream_t s, enum cuda_type type,
                                                const struct grouped_conv *conv, const void *dy,
                                                const void *w, void *dx)
{
    return type == CUDA_BF16 ? values<uint16_t, true>(s, conv, dy, w, dx)
                             : values<float, true>(s, conv, dy, w, dx);
}

extern "C" cudaError_t kernel_grouped_conv_weights(cudaStream_t s, enum cuda_type type,
                                                   const struct grouped_conv *conv, const void *x,
                                                   const void *dy, float *dw)
{
    return type == CUDA_BF16 ? weights<uint16_t>(s, conv, x, dy, dw)
                             : weights<float>(s, conv, x, dy, dw);
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"
#include "engine/device/cuda/kernels/norm_channel.h"
#include "engine/device/cuda/kernels/pack.h"

/*
 * A convolution's own sums, which are f32. The variance is the difference of the mean square and
 * the squared mean, which loses as many digits as the mean is larger than the deviation, squared:
 * for a channel where that is too many, the sums are recomputed from the tensor, about its first
 * number and in f64. That is rare, so it need not be fast: a block goes over all of the tensor's
 * pixels alone, which takes milliseconds, and no host has to know. Else a block reads the sums of a
 * pack of channels.
 */
enum { TAKE_THREADS = 256 };

/* |mean| / deviation: f32 sums are good to some 1e-7, the variance from them then to 1 %. */
#define TAKE_LIMIT 256.0

static __device__ bool is_doubtful(double sum, double square, double count)
{
    const struct norm_statistics s = norm_statistics_of({sum, square}, count);
    return !(s.mean * s.mean <= TAKE_LIMIT * TAKE_LIMIT * s.variance); /* NaN is, too */
}

/* Sums over the block's threads of a pack's moments; thread k gets those of its channel k. */
template <int size>
static __device__ struct norm_moments block_sums(const struct norm_moments own[size])
{
    __shared__ double shared[2][TAKE_THREADS];
    struct norm_moments mine = {0, 0};
    for (uint32_t k = 0; k < size; k++) {
        shared[0][threadIdx.x] = own[k].sum;
        shared[1][threadIdx.x] = own[k].product;
        __syncthreads();
        for (uint32_t i = 0; threadIdx.x == k && i < TAKE_THREADS; i++) {
            mine.sum += shared[0][i];
            mine.product += shared[1][i];
        }
        __syncthreads();
    }
    return mine;
}

/* Of a pack of channels, for thread k of its channel k. */
template <typename T>
static __device__ struct norm_moments sum_again(const T *x, uint32_t group, uint32_t groups,
                                                size_t pixels)
{
    enum { size = pack<T>::size };
    struct norm_moments own[size] = {};
    float origin[size], v[size];
    pack_numbers(pack_load(x, group), origin);
    for (size_t i = threadIdx.x; i < pixels; i += TAKE_THREADS) {
        pack_numbers(pack_load(x, i * groups + group), v);
        for (int k = 0; k < size; k++) {
            const double d = (double)v[k] - (double)origin[k];
            own[k].sum += d;
            own[k].product += d * d;
        }
    }
    const struct norm_moments sums = block_sums<size>(own);
    const uint32_t k = threadIdx.x < size ? threadIdx.x : 0;
    return norm_move_squares(sums, (double)pack_first(x, group * size + k), (double)pixels);
}

template <typename T>
static __global__ void take_sums(uint32_t channels, size_t pixels, const T *x, const float *sums,
                                 const float *squares, double *out, struct norm_params n,
                                 const double *elements)
{
    const uint32_t size = pack<T>::size;
    const uint32_t group = blockIdx.x, k = threadIdx.x < size ? threadIdx.x : 0;
    const uint32_t c = group * size + k;
    struct norm_moments m = {(double)sums[c], (double)squares[c]};
    bool doubtful = false; /* any of the pack: the same for all threads */
    for (uint32_t i = group * size; i < (group + 1) * size; i++)
        doubtful = doubtful || is_doubtful((double)sums[i], (double)squares[i], (double)pixels);
    if (doubtful)
        m = sum_again(x, group, channels / size, pixels);
    if (threadIdx.x >= size)
        return;
    out[c] = m.sum;
    out[channels + c] = m.product;
    if (elements)
        norm_set_statistics(n, c, m, *elements);
}

template <typename T>
static cudaError_t launch(cudaStream_t s, struct tensor_shape shape, const void *x,
                          const float *sums, const float *squares, double *out,
                          const struct norm_params *n, const double *elements)
{
    const size_t pixels = (size_t)shape.rows * (size_t)shape.h * (size_t)shape.w;
    const struct norm_params params = elements ? *n : norm_params();
    return LAUNCH(take_sums<T>, dim3((uint32_t)(shape.channels / pack<T>::size)),
                  dim3(TAKE_THREADS), 0, s, (uint32_t)shape.channels, pixels, (const T *)x, sums,
                  squares, out, params, elements);
}

extern "C" cudaError_t kernel_norm_take_sums(cudaStream_t s, enum cuda_type type,
                                             struct tensor_shape shape, const void *x,
                                             const float *sums, const float *squares, double *out,
                                             const struct norm_params *n, const double *elements)
{
    return type == CUDA_BF16 ? launch<uint16_t>(s, shape, x, sums, squares, out, n, elements)
                             : launch<float>(s, shape, x, sums, squares, out, n, elements);
}

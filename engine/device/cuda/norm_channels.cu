/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/each.h"
#include "engine/device/cuda/norm_math.h"

/* BatchNorm's arithmetic with one thread for each channel. */

static dim3 norm_channel_blocks(int channels)
{
    return dim3((uint32_t)each_divided((size_t)channels, EACH_THREADS));
}

static __device__ float optional(const float *vector, int c)
{
    return vector ? vector[c] : 0;
}

static __global__ void take_sums(int channels, const float *sums, const float *squares, double *out)
{
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= channels)
        return;
    out[c] = (double)sums[c];
    out[channels + c] = (double)squares[c];
}

extern "C" cudaError_t kernel_norm_take_sums(cudaStream_t s, int channels, const float *sums,
                                             const float *squares, double *out)
{
    return LAUNCH(take_sums, norm_channel_blocks(channels), dim3(EACH_THREADS), 0, s, channels,
                  sums, squares, out);
}

static __device__ void set_affine(const struct norm_params &n, int c, double mean, double istd)
{
    const struct norm_affine affine =
        norm_affine_of(mean, istd, n.gamma[c], n.beta[c], optional(n.residual_bias, c));
    n.mean[c] = (float)mean;
    n.istd[c] = (float)istd;
    n.scale[c] = affine.scale;
    n.shift[c] = affine.shift;
}

static __global__ void statistics(struct norm_params n, const double *sums, const double *elements)
{
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= n.channels)
        return;
    const double count = *elements;
    const struct norm_moments m = {sums[c], sums[n.channels + c]};
    const struct norm_statistics of = norm_statistics_of(m, count);
    const double now = of.mean + (double)optional(n.input_bias, c);
    set_affine(n, c, of.mean, norm_istd(of.variance, n.eps));
    n.running_mean[c] = norm_running(n.running_mean[c], now, n.momentum);
    if (count > 1)
        n.running_var[c] =
            norm_running(n.running_var[c], of.variance * count / (count - 1), n.momentum);
}

extern "C" cudaError_t kernel_norm_statistics(cudaStream_t s, const struct norm_params *n,
                                              const double *sums, const double *elements)
{
    return LAUNCH(statistics, norm_channel_blocks(n->channels), dim3(EACH_THREADS), 0, s, *n, sums,
                  elements);
}

/* The bias that is left out in front stands in the running mean, so x lacks it. */
static __global__ void evaluation(struct norm_params n)
{
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= n.channels)
        return;
    const double bias = (double)optional(n.input_bias, c);
    set_affine(n, c, (double)n.running_mean[c] - bias, norm_istd((double)n.running_var[c], n.eps));
}

extern "C" cudaError_t kernel_norm_evaluation(cudaStream_t s, const struct norm_params *n)
{
    return LAUNCH(evaluation, norm_channel_blocks(n->channels), dim3(EACH_THREADS), 0, s, *n);
}

static __device__ void set_gradients(const struct norm_gradients &to, int c,
                                     const struct norm_moments &own, double mean, double istd)
{
    to.dgamma[c] = (float)(norm_centred(own, mean) * istd);
    to.dbeta[c] = (float)own.sum;
    if (to.dinput_bias)
        to.dinput_bias[c] = 0;
    if (to.dresidual_bias)
        to.dresidual_bias[c] = (float)own.sum;
}

static __global__ void backward_finish(struct norm_params n, const double *own, const double *all,
                                       const double *elements, struct norm_gradients to)
{
    const int c = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (c >= n.channels)
        return;
    const double mean = (double)n.mean[c], istd = (double)n.istd[c];
    const struct norm_moments mine = {own[c], own[n.channels + c]};
    set_gradients(to, c, mine, mean, istd);
    if (!to.a)
        return;
    const struct norm_moments m = {all[c], all[n.channels + c]};
    const struct norm_slopes k = norm_slopes_of(m, *elements, mean, istd, (double)n.scale[c]);
    to.a[c] = k.a;
    to.b[c] = k.b;
    to.c[c] = k.c;
}

extern "C" cudaError_t kernel_norm_backward_finish(cudaStream_t s, const struct norm_params *n,
                                                   const double *own, const double *all,
                                                   const double *elements,
                                                   const struct norm_gradients *out)
{
    return LAUNCH(backward_finish, norm_channel_blocks(n->channels), dim3(EACH_THREADS), 0, s, *n,
                  own, all, elements, *out);
}

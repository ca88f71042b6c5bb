/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"
#include "engine/device/cuda/kernels/norm_channel.h"

/* BatchNorm's arithmetic with one thread for each channel. */

static dim3 norm_channel_blocks(int channels)
{
    return dim3((uint32_t)each_divided((size_t)channels, EACH_THREADS));
}

static __global__ void statistics(struct norm_params n, const double *sums, const double *elements)
{
    const uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= (uint32_t)n.channels)
        return;
    const struct norm_moments m = {sums[c], sums[n.channels + c]};
    norm_set_statistics(n, c, m, *elements);
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
    const uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= (uint32_t)n.channels)
        return;
    const double bias = (double)norm_optional(n.input_bias, c);
    norm_set_affine(n, c, (double)n.running_mean[c] - bias,
                    norm_istd((double)n.running_var[c], n.eps));
}

extern "C" cudaError_t kernel_norm_evaluation(cudaStream_t s, const struct norm_params *n)
{
    return LAUNCH(evaluation, norm_channel_blocks(n->channels), dim3(EACH_THREADS), 0, s, *n);
}

static __global__ void backward_finish(struct norm_params n, const double *own, const double *all,
                                       const double *elements, struct norm_gradients to)
{
    const uint32_t c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= (uint32_t)n.channels)
        return;
    const struct norm_moments mine = {own[c], own[n.channels + c]};
    const struct norm_moments everybody = {all[c], all[n.channels + c]};
    norm_set_gradients(n, c, mine, everybody, *elements, to);
}

extern "C" cudaError_t kernel_norm_backward_finish(cudaStream_t s, const struct norm_params *n,
                                                   const double *own, const double *all,
                                                   const double *elements,
                                                   const struct norm_gradients *out)
{
    return LAUNCH(backward_finish, norm_channel_blocks(n->channels), dim3(EACH_THREADS), 0, s, *n,
                  own, all, elements, *out);
}

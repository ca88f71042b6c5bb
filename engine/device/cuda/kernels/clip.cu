/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/kernels/each.h"

/*
 * The norm of all gradients, and what they are multiplied by to have at most a given one. The
 * number of blocks that add the squares depends on that of the gradients alone: all models of GPUs
 * add in the same order.
 */

enum { THREADS = EACH_THREADS, QUAD = 4 };

/* The sum over a block's threads, in thread 0. */
static __device__ double block_sum(double own)
{
    __shared__ double sums[THREADS];
    sums[threadIdx.x] = own;
    __syncthreads();
    for (uint32_t reach = THREADS / 2; reach > 0; reach /= 2) {
        if (threadIdx.x < reach)
            sums[threadIdx.x] += sums[threadIdx.x + reach];
        __syncthreads();
    }
    return sums[0];
}

__global__ void square_sums(const float *grads, size_t quads, struct gradient_norm *norm)
{
    double sum = 0;
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < quads;
         i += (size_t)CLIP_BLOCKS * THREADS) {
        const float4 g = quad_load(grads, i);
        const double x = (double)g.x, y = (double)g.y, z = (double)g.z, w = (double)g.w;
        sum += x * x + y * y + z * z + w * w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        norm->parts[blockIdx.x] = sum;
}

__global__ void sum_parts(const struct gradient_norm *norm, uint32_t parts, double *squares)
{
    const double sum = block_sum(threadIdx.x < parts ? norm->parts[threadIdx.x] : 0);
    if (threadIdx.x == 0)
        *squares = sum;
}

extern "C" cudaError_t kernel_gradient_squares(cudaStream_t s, size_t count, const float *grads,
                                               struct gradient_norm *norm, double *squares)
{
    static_assert((int)CLIP_BLOCKS == (int)THREADS, "a block adds what each has added");
    const size_t quads = count / QUAD, wanted = each_divided(quads, THREADS);
    const uint32_t blocks = (uint32_t)(wanted < (size_t)CLIP_BLOCKS ? wanted : (size_t)CLIP_BLOCKS);
    cudaError_t status = cudaSuccess;
    if (blocks > 0)
        status = LAUNCH(square_sums, dim3(blocks), dim3(THREADS), 0, s, grads, quads, norm);
    if (status == cudaSuccess)
        status = LAUNCH(sum_parts, dim3(1), dim3(THREADS), 0, s, norm, blocks, squares);
    return status;
}

__global__ void clip_scale(const struct optimizer_step *step, struct gradient_norm *norm)
{
    norm->norm = step->norm != 0 ? step->norm : (float)sqrt(norm->squares);
    norm->scale = update_clip(norm->norm, step->clip);
}

extern "C" cudaError_t kernel_gradient_norm(cudaStream_t s, const struct optimizer_step *step,
                                            struct gradient_norm *norm)
{
    return LAUNCH(clip_scale, dim3(1), dim3(1), 0, s, step, norm);
}

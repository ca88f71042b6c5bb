/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_SUMS_H
#define DPARTUI_ENGINE_DEVICE_CUDA_SUMS_H

#include "engine/device/cuda/each.h"

/*
 * Sums over rows and pixels, channel by channel, in two kernels and always in the same order.
 *
 * The first splits the positions (row, pixel) among `chunks` blocks, tile by tile of up to 64
 * channels. A thread keeps to 8 channels and adds its numbers in f32, SUMS_RUN at most; threads of
 * a block are added in f64, each block's result is a row of `partial`. Blocks walk side by side
 * from the tensor's front to its end, so that what is read last lies there: whoever comes next
 * begins at the end and finds it in the L2 cache. The second kernel adds the rows.
 *
 * The number of chunks depends on the shape alone, so that every GPU gets the same bits.
 */
enum {
    SUMS_THREADS = 256,
    SUMS_LEAST = 4,        /* numbers that are worth a thread */
    SUMS_RUN = 256,        /* numbers added in f32 */
    SUMS_BLOCKS = 4 * 132, /* of the first kernel: 4 fit on a multiprocessor, an H200 has 132 */
    SUMS_TILE = 8,         /* packs of a pixel that a block adds */
    SUMS_KINDS = 2,        /* sums of x, or of x and of a product */
    SUMS_LANES = 32        /* of the second kernel: threads that share a column */
};

struct sums_layout {
    size_t positions;
    uint32_t groups;       /* packs of a pixel */
    uint32_t tiles, packs; /* packs of a tile: `groups` shared out evenly */
    uint32_t lanes;        /* positions that a block takes at once */
    uint32_t chunks;       /* 0: nothing to add */
};

static inline size_t sums_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline struct sums_layout sums_layout_of(struct tensor_shape shape)
{
    struct sums_layout l;
    l.positions = (size_t)shape.rows * (size_t)shape.h * (size_t)shape.w;
    l.groups = (uint32_t)shape.channels / PACK;
    l.tiles = (uint32_t)each_divided(l.groups, SUMS_TILE);
    l.packs = (uint32_t)each_divided(l.groups, l.tiles);
    l.lanes = SUMS_THREADS / l.packs;
    const size_t useful = each_divided(l.positions, (size_t)l.lanes * SUMS_LEAST);
    const size_t least = each_divided(l.positions, (size_t)l.lanes * SUMS_RUN);
    const size_t share = each_divided(SUMS_BLOCKS, l.tiles);
    const size_t wanted = sums_smaller(useful, share);
    l.chunks = (uint32_t)(wanted > least ? wanted : least);
    return l;
}

/* Rows of `partial` have SUMS_KINDS * channels numbers. */
static inline size_t sums_scratch(struct tensor_shape shape)
{
    return (size_t)sums_layout_of(shape).chunks * SUMS_KINDS * (size_t)shape.channels *
           sizeof(double);
}

/*
 * Work has, beside what each.h asks for,
 *     void add(size_t i, const loaded &, const constants &, float sum[8], float product[8]) const
 */
template <typename Work>
__global__ void __launch_bounds__(SUMS_THREADS, Work::bytes > 64 ? 3 : 4)
    sums_of_chunks(Work work, struct sums_layout l, double *partial)
{
    __shared__ double shared[SUMS_KINDS * PACK][SUMS_THREADS];
    const uint32_t lane = threadIdx.x / l.packs,
                   group = blockIdx.y * l.packs + threadIdx.x % l.packs;
    float sum[SUMS_KINDS][PACK] = {};
    if (lane < l.lanes && group < l.groups) {
        const typename Work::constants constants = work.prepare(group);
        const int batch = each_batch<Work>::size;
        const size_t step = (size_t)l.chunks * l.lanes;
        size_t p = (size_t)blockIdx.x * l.lanes + lane;
        for (; p + (batch - 1) * step < l.positions; p += batch * step) {
            typename Work::loaded loaded[batch];
#pragma unroll
            for (int k = 0; k < batch; k++)
                loaded[k] = work.load((p + k * step) * l.groups + group);
#pragma unroll
            for (int k = 0; k < batch; k++)
                work.add((p + k * step) * l.groups + group, loaded[k], constants, sum[0], sum[1]);
        }
        for (; p < l.positions; p += step)
            work.add(p * l.groups + group, work.load(p * l.groups + group), constants, sum[0],
                     sum[1]);
    }
#pragma unroll
    for (int k = 0; k < SUMS_KINDS * PACK; k++)
        shared[k][threadIdx.x] = (double)sum[k / PACK][k % PACK];
    for (uint32_t count = l.lanes; count > 1; count = (count + 1) / 2) {
        const uint32_t other = lane + (count + 1) / 2;
        __syncthreads();
        if (other < count)
            for (int k = 0; k < SUMS_KINDS * PACK; k++)
                shared[k][threadIdx.x] += shared[k][threadIdx.x + (count + 1) / 2 * l.packs];
    }
    /* Lane 0 now holds the sums, and wrote them itself. */
    if (lane > 0 || group >= l.groups)
        return;
    double *row = partial + (size_t)blockIdx.x * SUMS_KINDS * l.groups * PACK + group * PACK;
    for (int k = 0; k < PACK; k++) {
        row[k] = shared[k][threadIdx.x];
        row[(size_t)l.groups * PACK + k] = shared[PACK + k][threadIdx.x];
    }
}

/*
 * A block for each 8 channels. Finish has
 *     void take(uint32_t channel, double sum, double product, size_t n) const
 * with the sums over n numbers.
 */
template <typename Finish>
__global__ void sums_of_partial(Finish finish, struct sums_layout l, const double *partial)
{
    __shared__ double shared[SUMS_LANES][SUMS_KINDS * PACK];
    const uint32_t column = threadIdx.x % (SUMS_KINDS * PACK);
    const uint32_t lane = threadIdx.x / (SUMS_KINDS * PACK);
    const size_t channels = (size_t)l.groups * PACK;
    const double *from = partial + column / PACK * channels + blockIdx.x * PACK + column % PACK;
    double sum = 0;
#pragma unroll 4
    for (uint32_t chunk = lane; chunk < l.chunks; chunk += SUMS_LANES)
        sum += from[chunk * SUMS_KINDS * channels];
    shared[lane][column] = sum;
    for (uint32_t distance = SUMS_LANES / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (lane < distance)
            shared[lane][column] += shared[lane + distance][column];
    }
    __syncthreads();
    if (threadIdx.x < PACK)
        finish.take(blockIdx.x * PACK + threadIdx.x, shared[0][threadIdx.x],
                    shared[0][PACK + threadIdx.x], l.positions);
}

template <typename Work, typename Finish>
cudaError_t sums_launch(cudaStream_t s, const Work &work, const Finish &finish,
                        struct tensor_shape shape, void *scratch)
{
    const struct sums_layout l = sums_layout_of(shape);
    double *partial = static_cast<double *>(scratch);
    cudaError_t status = cudaSuccess;
    if (l.chunks > 0)
        status = LAUNCH(sums_of_chunks<Work>, dim3(l.chunks, l.tiles), dim3(SUMS_THREADS), 0, s,
                        work, l, partial);
    if (status != cudaSuccess)
        return status;
    return LAUNCH(sums_of_partial<Finish>, dim3(l.groups), dim3(SUMS_LANES * SUMS_KINDS * PACK), 0,
                  s, finish, l, partial);
}

#endif

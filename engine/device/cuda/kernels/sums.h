/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/each.h"

/*
 * Sums over rows and pixels, channel by channel, in one kernel and always in the same order.
 *
 * It splits the positions (row, pixel) among `chunks` blocks, tile by tile of up to 8 packs of
 * channels. A thread keeps to one pack and adds its numbers in f32, SUMS_RUN at most; threads of a
 * block are added in f64, each block's result is a row of `partial`. Blocks walk side by side from
 * the tensor's front to its end, so that what is read last lies there: whoever comes next begins at
 * the end and finds it in the L2 cache.
 *
 * Of SUMS_FOLD neighbouring chunks the block that ends last adds the rows; of all that did so, the
 * last adds theirs, and finishes. Which blocks these are differs from run to run, what they add and
 * in which order does not. (As in the CUDA sample threadFenceReduction, with two levels, so that no
 * block has more than a few microseconds of reading left while all others are done.)
 *
 * The number of chunks depends on the shape and on how many blocks the GPU holds at once, so GPUs
 * of different models may differ in the last bits.
 */
enum {
    SUMS_THREADS = EACH_THREADS,
    SUMS_LEAST = 4,   /* numbers that are worth a thread */
    SUMS_RUN = 256,   /* numbers added in f32 */
    SUMS_MOST = 2048, /* blocks, on a GPU of any size */
    SUMS_TILE = 8,    /* packs of a pixel that a block adds */
    SUMS_KINDS = 2,   /* sums of x, or of x and of a product */
    SUMS_FOLD = 16,   /* chunks that one block adds */
};

struct sums_layout {
    size_t positions;
    uint32_t groups;       /* packs of a pixel */
    uint32_t tiles, packs; /* packs of a tile: `groups` shared out evenly */
    uint32_t lanes;        /* positions that a block takes at once */
    uint32_t chunks, folds;
};

/* `blocks`: at most this number where SUMS_RUN allows it. */
static inline struct sums_layout sums_layout_of(struct tensor_shape shape, int pack_size,
                                                uint32_t blocks)
{
    struct sums_layout l;
    l.positions = (size_t)shape.rows * (size_t)shape.h * (size_t)shape.w;
    l.groups = (uint32_t)(shape.channels / pack_size);
    l.tiles = (uint32_t)each_divided(l.groups, SUMS_TILE);
    l.packs = (uint32_t)each_divided(l.groups, l.tiles);
    l.lanes = SUMS_THREADS / l.packs;
    const size_t useful = each_divided(l.positions, (size_t)l.lanes * SUMS_LEAST);
    const size_t least = each_divided(l.positions, (size_t)l.lanes * SUMS_RUN);
    const size_t share = (blocks < SUMS_MOST ? blocks : (uint32_t)SUMS_MOST) / l.tiles;
    const size_t wanted = useful < share ? useful : share;
    const size_t chunks = wanted > least ? wanted : least;
    l.chunks = (uint32_t)(chunks > 0 ? chunks : 1); /* which finishes where there is nothing */
    l.folds = (uint32_t)each_divided(l.chunks, SUMS_FOLD);
    return l;
}

/* Rows of `partial`, those of chunks and after them those of folds, have SUMS_KINDS * channels
 * numbers. */
static inline size_t sums_scratch(const struct sums_layout *l, int channels)
{
    return ((size_t)l->chunks + l->folds) * SUMS_KINDS * (size_t)channels * sizeof(double);
}

/* Counters of a tile: of its folds, and of those that are done. */
static inline size_t sums_counters(const struct sums_layout *l)
{
    return (size_t)l->tiles * (l->folds + 1);
}

/* Whether this block is the last of `blocks` to come here; it then sees what the others wrote
 * before. Called by all threads. The counter ends as it began, at 0. */
static __device__ bool sums_last(uint32_t *counter, uint32_t blocks)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(counter, blocks - 1) == blocks - 1;
    __syncthreads();
    if (last)
        __threadfence();
    return last;
}

/* A tile's columns in a row of `partial`. */
struct sums_tile {
    uint32_t first, width; /* channels */
    uint32_t column, lane; /* of the thread */
    size_t at, row;        /* its column in a row, a row's numbers */
    bool valid;
};

static __device__ struct sums_tile sums_tile_of(const struct sums_layout &l, uint32_t pack_size)
{
    const uint32_t channels = l.groups * pack_size;
    struct sums_tile t;
    t.width = l.packs * pack_size;
    t.first = blockIdx.y * t.width;
    t.column = threadIdx.x % (SUMS_KINDS * t.width);
    t.lane = threadIdx.x / (SUMS_KINDS * t.width);
    const uint32_t channel = t.first + t.column % t.width;
    t.valid = channel < channels && t.lane < SUMS_THREADS / (SUMS_KINDS * t.width);
    t.at = (size_t)(t.column / t.width) * channels + channel;
    t.row = (size_t)SUMS_KINDS * channels;
    return t;
}

/* sums[column]: of `count` rows, by all threads, after a barrier. Rows are read past the L1 cache,
 * which may not know what other blocks wrote. */
static __device__ void sums_of_rows(const struct sums_tile &t, const double *rows, uint32_t count,
                                    double sums[SUMS_THREADS])
{
    const uint32_t columns = SUMS_KINDS * t.width, lanes = SUMS_THREADS / columns;
    double sum = 0;
    if (t.valid) {
#pragma unroll 8
        for (uint32_t i = t.lane; i < count; i += lanes)
            sum += __ldcg(rows + i * t.row + t.at);
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (t.lane > 0)
        return;
    for (uint32_t i = 1; i < lanes; i++)
        sum += sums[i * columns + t.column];
    sums[threadIdx.x] = sum;
}

/* The block's own row: added over its threads, pairwise. */
template <int size>
static __device__ void sums_of_block(const struct sums_layout &l,
                                     const float (&sum)[SUMS_KINDS][size],
                                     double shared[SUMS_KINDS * size][SUMS_THREADS], double *row)
{
    const uint32_t lane = threadIdx.x / l.packs,
                   group = blockIdx.y * l.packs + threadIdx.x % l.packs;
#pragma unroll
    for (int k = 0; k < SUMS_KINDS * size; k++)
        shared[k][threadIdx.x] = (double)sum[k / size][k % size];
    for (uint32_t count = l.lanes; count > 1; count = (count + 1) / 2) {
        const uint32_t apart = (count + 1) / 2;
        __syncthreads();
        if (lane + apart < count)
            for (int k = 0; k < SUMS_KINDS * size; k++)
                shared[k][threadIdx.x] += shared[k][threadIdx.x + apart * l.packs];
    }
    /* Lane 0 now holds the sums, and wrote them itself. */
    if (lane > 0 || group >= l.groups)
        return;
    for (int k = 0; k < size; k++) {
        row[group * size + k] = shared[k][threadIdx.x];
        row[(size_t)(l.groups + group) * size + k] = shared[size + k][threadIdx.x];
    }
}

/* A thread's share of the block's chunk. */
template <typename Work, int size>
static __device__ void sums_of_thread(const Work &work, const struct sums_layout &l,
                                      float (&sum)[SUMS_KINDS][size])
{
    const uint32_t lane = threadIdx.x / l.packs,
                   group = blockIdx.y * l.packs + threadIdx.x % l.packs;
    const int batch = each_batch<Work>::size;
    const size_t step = (size_t)l.chunks * l.lanes;
    size_t p = (size_t)blockIdx.x * l.lanes + lane;
    if (lane >= l.lanes || group >= l.groups || p >= l.positions)
        return;
    const typename Work::constants constants = work.prepare(group);
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
        work.add(p * l.groups + group, work.load(p * l.groups + group), constants, sum[0], sum[1]);
}

/*
 * Work has, in addition to what each.h needs,
 *     enum { size, resident }         numbers of a pack; blocks that a multiprocessor is to hold
 *     void add(size_t i, const loaded &, const constants &, float sum[], float product[]) const
 * Finish has
 *     void take(uint32_t channel, double sum, double product, size_t n) const
 * with the sums over n numbers, called once for each channel.
 */
template <typename Work, typename Finish>
__global__ void __launch_bounds__(SUMS_THREADS, Work::resident)
    sums_of_channels(Work work, Finish finish, struct sums_layout l, double *partial,
                     uint32_t *counters)
{
    __shared__ double shared[SUMS_KINDS * Work::size][SUMS_THREADS];
    float sum[SUMS_KINDS][Work::size] = {};
    sums_of_thread(work, l, sum);
    const struct sums_tile t = sums_tile_of(l, Work::size);
    const uint32_t fold = blockIdx.x / SUMS_FOLD, before = fold * SUMS_FOLD;
    const uint32_t left = l.chunks - before, chunks = left < SUMS_FOLD ? left : (uint32_t)SUMS_FOLD;
    sums_of_block(l, sum, shared, partial + blockIdx.x * t.row);
    counters += blockIdx.y * (l.folds + 1);
    if (!sums_last(counters + fold, chunks))
        return;
    sums_of_rows(t, partial + before * t.row, chunks, shared[0]);
    if (l.folds > 1) {
        double *folded = partial + l.chunks * t.row;
        if (t.valid && t.lane == 0)
            folded[fold * t.row + t.at] = shared[0][t.column];
        if (!sums_last(counters + l.folds, l.folds))
            return;
        sums_of_rows(t, folded, l.folds, shared[0]);
    }
    __syncthreads();
    if (threadIdx.x < t.width && t.valid)
        finish.take(t.first + threadIdx.x, shared[0][threadIdx.x], shared[0][t.width + threadIdx.x],
                    l.positions);
}

template <typename Work, typename Finish>
cudaError_t sums_launch(cudaStream_t s, const Work &work, const Finish &finish,
                        struct tensor_shape shape, struct sums_memory memory)
{
    uint32_t blocks = 0;
    const cudaError_t status = each_resident<sums_of_channels<Work, Finish>>(&blocks);
    if (status != cudaSuccess)
        return status;
    const struct sums_layout l = sums_layout_of(shape, Work::size, blocks);
    if (sums_counters(&l) > KERNEL_COUNTERS)
        return cudaErrorInvalidValue;
    auto kernel = sums_of_channels<Work, Finish>;
    return LAUNCH(kernel, dim3(l.chunks, l.tiles), dim3(SUMS_THREADS), 0, s, work, finish, l,
                  static_cast<double *>(memory.scratch), memory.counters);
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/kernels/pack.h"

/*
 * Kernels that do the same to every pack of a tensor. Such kernels are bound by memory: what counts
 * is that enough loads are under way. A thread takes a few packs at a time, loads all of them, then
 * stores all of them. The distance between its packs is a multiple of a pixel's packs, so a
 * thread meets the same channels all the time and keeps their constants in registers.
 *
 * What is done is an object with
 *     struct constants, struct loaded
 *     enum { bytes }                                 that a `load` loads
 *     constants prepare(uint32_t group) const        of a pixel's pack `group`
 *     loaded load(size_t i) const                    pack i of all inputs
 *     void finish(size_t i, const loaded &, const constants &) const
 * A result may take the place of an input, as all of a pack is read before any of it is written.
 */
enum { EACH_THREADS = 256, EACH_DEVICES = 64 };

/* Packs at a time: 64 bytes of registers hold what a thread has under way. */
template <typename Work> struct each_batch {
    enum { fitting = 64 / Work::bytes, size = fitting < 1 ? 1 : fitting > 4 ? 4 : fitting };
};

template <typename Work>
__global__ void each_pack(Work work, size_t packs, uint32_t stride, uint32_t groups)
{
    const uint32_t first = blockIdx.x * blockDim.x + threadIdx.x;
    if (first >= stride)
        return;
    const typename Work::constants constants = work.prepare(first % groups);
    const int batch = each_batch<Work>::size;
    size_t i = first;
    for (; i + (batch - 1) * (size_t)stride < packs; i += batch * (size_t)stride) {
        typename Work::loaded loaded[batch];
#pragma unroll
        for (int k = 0; k < batch; k++)
            loaded[k] = work.load(i + k * (size_t)stride);
#pragma unroll
        for (int k = 0; k < batch; k++)
            work.finish(i + k * (size_t)stride, loaded[k], constants);
    }
    for (; i < packs; i += stride)
        work.finish(i, work.load(i), constants);
}

static inline size_t each_divided(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

/*
 * Blocks of EACH_THREADS threads of a kernel that the current device holds at once: one more would
 * wait for another's end, and then read what has left the L2 cache. The runtime is asked once per
 * kernel and device; threads that ask at the same time learn the same.
 */
template <auto kernel> static inline cudaError_t each_resident(uint32_t *blocks)
{
    static uint32_t known[EACH_DEVICES];
    int device = 0, multiprocessors = 0, held = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess)
        return status;
    uint32_t *place = device < EACH_DEVICES ? &known[device] : NULL;
    *blocks = place ? __atomic_load_n(place, __ATOMIC_RELAXED) : 0;
    if (*blocks > 0)
        return cudaSuccess;
    status = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (status == cudaSuccess)
        status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &held, reinterpret_cast<const void *>(kernel), EACH_THREADS, 0);
    if (status == cudaSuccess && held == 0)
        status = cudaErrorLaunchOutOfResources;
    if (status != cudaSuccess)
        return status;
    *blocks = (uint32_t)(multiprocessors * held);
    if (place)
        __atomic_store_n(place, *blocks, __ATOMIC_RELAXED);
    return cudaSuccess;
}

/* Blocks of a kernel for `items` things of which a thread takes `batch` at a time: no more than the
 * device holds at once, at least for `groups` threads. */
template <auto kernel>
static inline cudaError_t each_blocks(size_t items, size_t batch, size_t groups, uint32_t *blocks)
{
    uint32_t most = 0;
    const cudaError_t status = each_resident<kernel>(&most);
    const size_t wanted = each_divided(items, batch * EACH_THREADS);
    const size_t least = each_divided(groups, EACH_THREADS);
    const size_t n = wanted < most ? wanted : most;
    *blocks = (uint32_t)(n > least ? n : least);
    return status;
}

/* `groups`: packs of a pixel, or 1 where channels do not matter; a divisor of `packs`. */
template <typename Work>
cudaError_t each_launch(cudaStream_t s, const Work &work, size_t packs, uint32_t groups)
{
    uint32_t blocks = 0;
    if (packs == 0)
        return cudaSuccess;
    const cudaError_t status =
        each_blocks<each_pack<Work>>(packs, each_batch<Work>::size, groups, &blocks);
    if (status != cudaSuccess)
        return status;
    const uint32_t stride = blocks * EACH_THREADS / groups * groups;
    return LAUNCH(each_pack<Work>, dim3(blocks), dim3(EACH_THREADS), 0, s, work, packs, stride,
                  groups);
}

/* Over a whole tensor of numbers T. */
template <typename T, typename Work>
cudaError_t each_of_tensor(cudaStream_t s, const Work &work, struct tensor_shape shape)
{
    return each_launch(s, work, tensor_size(shape) / pack<T>::size,
                       (uint32_t)shape.channels / pack<T>::size);
}

/* For work without constants. */
struct each_nothing {
};

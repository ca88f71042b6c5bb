/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/runtime/memory.h"

#include "engine/device/cuda/runtime/wait.h"

bool cuda_memory_create(struct device *device, size_t bytes, const char *what, void **out,
                        struct error *err)
{
    size_t available = 0, all = 0;
    *out = NULL;
    if (bytes == 0)
        return true;
    cudaError_t status = cudaMalloc(out, bytes);
    if (status == cudaSuccess)
        return true;
    *out = NULL;
    cudaGetLastError(); /* else the next call would report it again */
    if (status != cudaErrorMemoryAllocation)
        return cuda_check(status, "memory", err);
    cudaMemGetInfo(&available, &all);
    return error_set(err, ERROR_FAILED,
                     "no room for %zu MiB (%s) on %s, which has %zu MiB free; use a smaller batch "
                     "or more devices",
                     bytes >> 20, what, device->model, available >> 20);
}

bool cuda_read(struct device *device, void *host, const void *memory, size_t bytes,
               const char *what, struct error *err)
{
    if (bytes == 0)
        return true;
    /* Copies to memory that is not pinned hold the caller: first wait with a limit. */
    return cuda_wait(device, device->stream, what, err) &&
           cuda_check(cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDeviceToHost, device->stream),
                      what, err) &&
           cuda_wait(device, device->stream, what, err);
}

bool cuda_write(struct device *device, void *memory, const void *host, size_t bytes,
                const char *what, struct error *err)
{
    if (bytes == 0)
        return true;
    return cuda_wait(device, device->stream, what, err) &&
           cuda_check(cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, device->stream),
                      what, err) &&
           cuda_wait(device, device->stream, what, err);
}

bool cuda_copy(struct device *device, void *to, const void *from, size_t bytes, struct error *err)
{
    return bytes == 0 ||
           cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, device->stream),
                      "copying between GPUs", err);
}

bool cuda_stage_create(struct device *device, size_t bytes, void **out, struct error *err)
{
    /* Pinned, so that copies need no detour, for all GPUs. */
    return cuda_check(cudaHostAlloc(out, bytes, cudaHostAllocPortable), "pinned host memory",
                      err) ||
           error_prefix(err, "%s", device->name);
}

void cuda_stage_destroy(struct device *device, void *stage)
{
    if (cuda_comes_to_rest(device))
        cudaFreeHost(stage);
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/group.h"
#include "config.h"
#include "engine/device/cuda/replica.h"

const struct collective *const cuda_collectives[] = {
#ifdef HAVE_NCCL
    &nccl_collective,
#endif
    &peer_collective,
    NULL,
};

bool group_end_open(struct group_end *end, struct error *err)
{
    int least = 0, greatest = 0;
    /* First in line: a reduction that is late holds up every GPU, a kernel of a pass only its own.
     */
    return cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream priorities",
                      err) &&
           cuda_check(cudaStreamCreateWithPriority(&end->stream, cudaStreamNonBlocking, greatest),
                      "stream for reductions", err) &&
           cuda_check(cudaEventCreateWithFlags(&end->ready, cudaEventDisableTiming),
                      "event for reductions", err);
}

void group_end_close(struct group_end *end)
{
    if (end->ready)
        cudaEventDestroy(end->ready);
    if (end->stream)
        cudaStreamDestroy(end->stream);
    end->ready = NULL;
    end->stream = NULL;
}

bool group_end_follow(struct group_end *end, struct error *err)
{
    return cuda_check(cudaEventRecord(end->ready, end->device->stream), "event", err) &&
           cuda_check(cudaStreamWaitEvent(end->stream, end->ready, 0), "wait for an event", err);
}

bool group_end_take_params(struct group_end *end, struct error *err)
{
    const struct cuda_replica *replica = (const struct cuda_replica *)end->replica;
    return !replica->copies ||
           cuda_check(kernel_convert(end->stream, CUDA_F32, replica->base.params, CUDA_BF16,
                                     replica->copies, replica->base.count),
                      "bf16 copies of the parameters", err);
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
    (void)device;
    cudaFreeHost(stage);
}

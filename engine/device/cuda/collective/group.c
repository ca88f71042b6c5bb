/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/group.h"

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

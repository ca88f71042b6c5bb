/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/collective.h"
#include "engine/device/cuda/runtime/device.h"

/*
 * What both transports (nccl.h, peer.h) keep of a device. Its stream is not the passes' own, so
 * that it may run at the same time.
 */
struct group_end {
    struct device *device;
    struct replica *replica;
    const char *name; /* borrowed */
    cudaStream_t stream;
    cudaEvent_t ready; /* what has been queued so far on the device's own stream */
};

/* Numbers of each rank's gradients that are reduced, and where they are. */
static inline size_t group_summed(const struct collective_request *request)
{
    return request->buckets > 0 ? request->ends[request->buckets - 1] : 0;
}

static inline float *group_gradients(const struct collective_request *request,
                                     const struct replica *replica)
{
    return replica->grads + replica->count - group_summed(request);
}

/* On the device's thread. Closing what is not open does nothing. */
bool group_end_open(struct group_end *end, struct error *err);
void group_end_close(struct group_end *end);
/* What is queued on end->stream from here on comes after all that is queued on the device's own. */
bool group_end_follow(struct group_end *end, struct error *err);

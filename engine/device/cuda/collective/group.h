/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_COLLECTIVE_GROUP_H
#define DPARTUI_ENGINE_DEVICE_CUDA_COLLECTIVE_GROUP_H

#include "engine/device/collective.h"
#include "engine/device/cuda/cuda.h"

/* The GPUs of one run together (engine/device/collective.h): nccl.c, peer.c; and before it,
 * facts.c. */

extern const struct collective nccl_collective; /* NCCL, beside the backward pass */
/* Own kernels that read the other GPUs' memory; also for one GPU that is named twice. */
extern const struct collective peer_collective;

/* For struct backend. */
extern const struct collective *const cuda_collectives[];
/* "CUDA 13.0 (driver 13.0), cuDNN 9.19.0, NCCL 2.28.9"; what is not there is left out. */
void cuda_libraries(char *buffer, size_t size);
bool cuda_facts(struct device *device, struct device_facts *out, struct error *err);
bool cuda_stage_create(struct device *device, size_t bytes, void **out, struct error *err);
void cuda_stage_destroy(struct device *device, void *stage);

/* What both collectives keep of a rank. Its stream is not the passes': it may run beside them. */
struct group_end {
    struct device *device;
    struct replica *replica;
    const char *name; /* borrowed */
    cudaStream_t stream;
    cudaEvent_t ready; /* what the rank has queued so far on its device's stream */
};

/* On the rank's thread. Closing what is not open does nothing. */
bool group_end_open(struct group_end *end, struct error *err);
void group_end_close(struct group_end *end);
/* Queue what follows from new parameters: the copies of them that passes read. */
bool group_end_take_params(struct group_end *end, struct error *err);
/* end->stream goes on where the device's own stream now is. */
bool group_end_follow(struct group_end *end, struct error *err);

#endif

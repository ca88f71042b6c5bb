/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/*
 * Loading code, and whatever waits for a whole GPU, spoils the capture of a stream by another
 * thread on the same one. So whoever does either takes the GPU's turn first. A thread that has it
 * must wait for no other device that may be on this GPU: the last three give it up meanwhile.
 * (NCCL's ranks are on their own GPUs.)
 */
bool cuda_turn_take(struct device *device, struct error *err);
void cuda_turn_give(struct device *device);
bool cuda_host_allreduce(struct device *device, const struct device_allreduce *allreduce,
                         double *values, size_t count, struct error *err);
bool cuda_exchange_wait(struct device *device, const struct device_exchange *exchange,
                        const void *own, const void *const **all, struct error *err);
/* cuda_wait(), for what waits for other GPUs. */
bool cuda_wait_without_turn(struct device *device, const char *what, struct error *err);

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_TRANSFER_H
#define DPARTUI_ENGINE_DEVICE_CUDA_TRANSFER_H

#include "engine/device/cuda/cuda.h"

/* Device memory of `bytes`; the error names the need, what is free, and what to do. Release with
 * cudaFree. */
bool cuda_memory_create(struct device *device, size_t bytes, const char *what, void **out,
                        struct error *err);
/* Between host and device memory, behind all that was queued on the stream; waits. */
bool cuda_read(struct device *device, void *host, const void *memory, size_t bytes,
               const char *what, struct error *err);
bool cuda_write(struct device *device, void *memory, const void *host, size_t bytes,
                const char *what, struct error *err);

#endif

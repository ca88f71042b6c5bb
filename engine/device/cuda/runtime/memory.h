/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/runtime/device.h"

/* Device memory of `bytes`; the error names the need, what is free, and what to do. Freed by
 * cudaFree. */
bool cuda_memory_create(struct device *device, size_t bytes, const char *what, void **out,
                        struct error *err);
/* Between host and device memory, after all that was queued on the stream; waits. */
bool cuda_read(struct device *device, void *host, const void *memory, size_t bytes,
               const char *what, struct error *err);
bool cuda_write(struct device *device, void *memory, const void *host, size_t bytes,
                const char *what, struct error *err);

/* Queue a copy within this GPU's memory, or from or to another's: directly where they reach each
 * other, else the driver goes by the host. */
bool cuda_copy(struct device *device, void *to, const void *from, size_t bytes, struct error *err);

/* For struct backend: pinned host memory, from and to which copies are fastest. */
bool cuda_stage_create(struct device *device, size_t bytes, void **out, struct error *err);
void cuda_stage_destroy(struct device *device, void *stage);

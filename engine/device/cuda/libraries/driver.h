/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include <cuda_runtime_api.h>

/* In one line, why there is no GPU when the runtime's first call returns `status`. */
void cuda_absence(cudaError_t status, char *why, size_t size);

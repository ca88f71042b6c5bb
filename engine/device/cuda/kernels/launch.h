/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How the .cu files start kernels. By nvcc this is the usual launch. With DPARTUI_SIMULATED_GPU the
 * same files are compiled for the host, where tests/simgpu runs the threads of a block in turn; it
 * then provides all that nvcc would: __global__, threadIdx, __shared__, __syncthreads, shuffles.
 */
#ifdef DPARTUI_SIMULATED_GPU
#include "tests/simgpu/device_side.h"
#else
#include <cuda_runtime.h>

/* LAUNCH(kernel, dim3 grid, dim3 block, bytes of dynamic shared memory, stream, arguments...): the
 * value is the launch's cudaError_t. */
#define LAUNCH(KERNEL, GRID, BLOCK, SHARED, STREAM, ...)                                           \
    (KERNEL<<<GRID, BLOCK, SHARED, STREAM>>>(__VA_ARGS__), cudaPeekAtLastError())

/* SHARED_ARRAY(type, name): the block's dynamic shared memory as an array. */
#define SHARED_ARRAY(TYPE, NAME)                                                                   \
    extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];                         \
    TYPE *NAME = reinterpret_cast<TYPE *>(dynamic_shared_memory)
#endif

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What nvcc would give a .cu file, for the host's C++ compiler: with this the kernels run on a
 * simulated GPU (simgpu.h). Included by engine/device/cuda/kernels/launch.h.
 */
#include <cuda_runtime_api.h>

#include "tests/simgpu/block.hpp"
#include "tests/simgpu/intrinsics.hpp"
#include "tests/simgpu/launch.hpp"

#undef __shared__
/* Blocks run one after another, so one instance for each OS thread is one for each block. */
#define __shared__ static thread_local
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __grid_constant__
#define __grid_constant__

#define threadIdx (simgpu::here.thread)
#define blockIdx  (simgpu::here.block)
#define blockDim  (simgpu::here.threads)
#define gridDim   (simgpu::here.blocks)

#define LAUNCH(KERNEL, GRID, BLOCK, SHARED, STREAM, ...)                                           \
    simgpu::launch(#KERNEL, KERNEL, GRID, BLOCK, SHARED, STREAM, __VA_ARGS__)

#define SHARED_ARRAY(TYPE, NAME) TYPE *NAME = static_cast<TYPE *>(simgpu::here.dynamic_shared)

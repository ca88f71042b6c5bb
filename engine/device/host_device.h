/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Functions that kernels call and that are plain C as well, so that a CPU device uses the same ones
 * or they are tested on the host against the engine's own
 * (tests/engine/device/cuda/kernels/test_math.c). Their headers need no CUDA toolkit.
 */
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

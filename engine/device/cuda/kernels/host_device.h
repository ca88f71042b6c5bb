/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CUDA_KERNELS_HOST_DEVICE_H
#define DPARTUI_ENGINE_DEVICE_CUDA_KERNELS_HOST_DEVICE_H

/*
 * Functions that kernels call and that are plain C as well, so that they are tested on the host
 * against the engine's own (tests/engine/device/cuda/kernels/test_cuda_math.c). Their headers need
 * no CUDA toolkit.
 */
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif

#endif

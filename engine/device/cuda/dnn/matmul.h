/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/kernels.h"
#include "engine/device/cuda/libraries/api.h"
#include "spec/spec.h"

/*
 * c = op(a) op(b) [+ bias] [ReLU] by cuBLASLt, row-major: op(a) is m x k, op(b) is k x n, c is
 * m x n; without gaps between rows. a and b have `type`, c has `result`; sums are f32; bias has n
 * f32 numbers.
 */
struct matmul_request {
    int m, n, k;
    bool transpose_a, transpose_b; /* stored as k x m, n x k */
    enum number_type math;         /* TYPE_F32: exact products; TYPE_TF32: rounded; TYPE_BF16 */
    enum cuda_type type, result;
    bool bias, relu;
};

struct matmul;

/* Fixes the algorithm. What the library cannot fuse (bias, ReLU) is an error here: ask without. */
bool matmul_create(const struct cublaslt_api *api, cublasLtHandle_t handle,
                   const struct matmul_request *request, size_t workspace_limit,
                   struct matmul **out, struct error *err);
void matmul_destroy(struct matmul *matmul);
size_t matmul_workspace(const struct matmul *matmul);
/* Queue it. Can be captured. workspace: 256-byte aligned. */
bool matmul_run(const struct matmul *matmul, const void *a, const void *b, const float *bias,
                void *c, void *workspace, cudaStream_t stream, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include "base/error.h"

/*
 * The libraries of the CUDA backend. The engine is linked with the CUDA runtime alone (statically;
 * it opens the driver by itself); the others, which are large, are opened when the first GPU is.
 * So the engine starts fast, and runs on machines without them.
 *
 * A table per library, each name without its library's prefix.
 */
#define CUDNN_FUNCTIONS(F)                                                                         \
    F(size_t, GetVersion, (void))                                                                  \
    F(const char *, GetErrorString, (cudnnStatus_t))                                               \
    F(void, GetLastErrorString, (char *, size_t))                                                  \
    F(cudnnStatus_t, Create, (cudnnHandle_t *))                                                    \
    F(cudnnStatus_t, Destroy, (cudnnHandle_t))                                                     \
    F(cudnnStatus_t, SetStream, (cudnnHandle_t, cudaStream_t))                                     \
    F(cudnnStatus_t, BackendCreateDescriptor,                                                      \
      (cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t *))                                  \
    F(cudnnStatus_t, BackendDestroyDescriptor, (cudnnBackendDescriptor_t))                         \
    F(cudnnStatus_t, BackendFinalize, (cudnnBackendDescriptor_t))                                  \
    F(cudnnStatus_t, BackendSetAttribute,                                                          \
      (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,         \
       int64_t, const void *))                                                                     \
    F(cudnnStatus_t, BackendGetAttribute,                                                          \
      (const cudnnBackendDescriptor_t, cudnnBackendAttributeName_t, cudnnBackendAttributeType_t,   \
       int64_t, int64_t *, void *))                                                                \
    F(cudnnStatus_t, BackendExecute,                                                               \
      (cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t))

#define CUBLASLT_FUNCTIONS(F)                                                                      \
    F(size_t, GetVersion, (void))                                                                  \
    F(const char *, GetStatusString, (cublasStatus_t))                                             \
    F(cublasStatus_t, Create, (cublasLtHandle_t *))                                                \
    F(cublasStatus_t, Destroy, (cublasLtHandle_t))                                                 \
    F(cublasStatus_t, MatmulDescCreate,                                                            \
      (cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t))                               \
    F(cublasStatus_t, MatmulDescDestroy, (cublasLtMatmulDesc_t))                                   \
    F(cublasStatus_t, MatmulDescSetAttribute,                                                      \
      (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void *, size_t))                \
    F(cublasStatus_t, MatrixLayoutCreate,                                                          \
      (cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t, int64_t))                       \
    F(cublasStatus_t, MatrixLayoutDestroy, (cublasLtMatrixLayout_t))                               \
    F(cublasStatus_t, MatmulPreferenceCreate, (cublasLtMatmulPreference_t *))                      \
    F(cublasStatus_t, MatmulPreferenceDestroy, (cublasLtMatmulPreference_t))                       \
    F(cublasStatus_t, MatmulPreferenceSetAttribute,                                                \
      (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void *, size_t))    \
    F(cublasStatus_t, MatmulAlgoGetHeuristic,                                                      \
      (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,     \
       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,            \
       cublasLtMatmulHeuristicResult_t *, int *))                                                  \
    F(cublasStatus_t, Matmul,                                                                      \
      (cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t, \
       const void *, cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t,   \
       void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t,               \
       cudaStream_t))

#define API_MEMBER(RESULT, NAME, ARGUMENTS) RESULT(*NAME) ARGUMENTS;

struct cudnn_api {
    CUDNN_FUNCTIONS(API_MEMBER)
};

struct cublaslt_api {
    CUBLASLT_FUNCTIONS(API_MEMBER)
};

/*
 * The tables, opened at the first call and kept to the process's end. NULL: ERROR_FAILED says which
 * library is missing, too old or lacks which function, and what to install. Any thread. NCCL's is
 * in nccl.h.
 */
const struct cudnn_api *cudnn_open(struct error *err);
const struct cublaslt_api *cublaslt_open(struct error *err);

/* ERROR_FAILED "WHAT: REASON" unless status is success; for cuDNN with what it says about it. */
bool cuda_check(cudaError_t status, const char *what, struct error *err);
bool cudnn_check(const struct cudnn_api *api, cudnnStatus_t status, const char *what,
                 struct error *err);
bool cublaslt_check(const struct cublaslt_api *api, cublasStatus_t status, const char *what,
                    struct error *err);

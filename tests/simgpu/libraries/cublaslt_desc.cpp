/* SPDX-License-Identifier: MIT */
#include <cstring>

#include "tests/simgpu/libraries/cublaslt.hpp"

/* Handles and descriptions of cuBLASLt. */

using namespace simgpu;
using namespace simgpu::lt;

namespace
{
cublasStatus_t drop(const void *handle)
{
    guard held(the_machine().lock);
    return lib_drop(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

template <typename T> cublasStatus_t take(T *to, const void *from, size_t size)
{
    if (size != sizeof(T) || !from)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, from, size);
    return CUBLAS_STATUS_SUCCESS;
}
} // namespace

extern "C" {

size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    default:
        return "CUBLAS_STATUS_INTERNAL_ERROR";
    }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *out)
{
    guard held(the_machine().lock);
    int status;
    if (asked_to_fail("cublasLtCreate", &status))
        return static_cast<cublasStatus_t>(status);
    give(out, context{this_caller().device});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return drop(handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    guard held(the_machine().lock);
    if (scale != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    product p;
    p.compute = compute;
    give(out, p);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    return drop(desc);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t size)
{
    guard held(the_machine().lock);
    auto p = find<product>(desc);
    if (!p)
        return CUBLAS_STATUS_INVALID_VALUE;
    switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return take(&p->of_a, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return take(&p->of_b, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return take(&p->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return take(&p->bias, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        return take(&p->bias_type, value, size);
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride)
{
    guard held(the_machine().lock);
    if (type != CUDA_R_32F && type != CUDA_R_16BF)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (rows < 1 || columns < 1 || stride < static_cast<int64_t>(rows))
        return CUBLAS_STATUS_INVALID_VALUE;
    give(out, layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix)
{
    return drop(matrix);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out)
{
    guard held(the_machine().lock);
    give(out, preference());
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t pref)
{
    return drop(pref);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t pref,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void *value, size_t size)
{
    guard held(the_machine().lock);
    auto p = find<preference>(pref);
    if (!p)
        return CUBLAS_STATUS_INVALID_VALUE;
    switch (name) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        return take(&p->workspace, value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
        return take(&p->reductions, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
        return take(&p->alignment[0], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
        return take(&p->alignment[1], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
        return take(&p->alignment[2], value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        return take(&p->alignment[3], value, size);
    default:
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

} /* extern "C" */

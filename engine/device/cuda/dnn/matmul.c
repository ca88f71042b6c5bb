/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/matmul.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "spec/names.h"

/*
 * cuBLASLt's matrices are column-major, and a row-major matrix is the column-major one of its
 * transpose. So c = a b is asked for as c' = b' a': the library's A is our b, its B our a, its rows
 * are our columns; what we store transposed it has to transpose. The bias, one number for each of
 * its rows, then goes by our columns.
 */
struct matmul {
    const struct cublaslt_api *api;
    cublasLtHandle_t handle;
    struct matmul_request request;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c; /* our names */
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace;
};

/* As promised by kernels.h for all tensors. */
#define ALIGNMENT 16

static cudaDataType data_type(enum cuda_type type)
{
    return type == CUDA_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

/* "256 x 10 x 512, bf16 -> f32 + bias + ReLU" (m x n x k). */
static const char *request_text(const struct matmul_request *r, char *buffer, size_t size)
{
    snprintf(buffer, size, "matrix product %d x %d x %d%s%s, %s -> %s%s%s", r->m, r->n, r->k,
             r->transpose_a ? ", first transposed" : "",
             r->transpose_b ? ", second transposed" : "", number_type_name(r->math),
             r->result == CUDA_BF16 ? "bf16" : "f32", r->bias ? " + bias" : "",
             r->relu ? " + ReLU" : "");
    return buffer;
}

static bool check_request(const struct matmul_request *r, struct error *err)
{
    if (r->m < 1 || r->n < 1 || r->k < 1)
        return error_set(err, ERROR_FAILED, "an empty matrix");
    if (r->math != TYPE_F32 && r->math != TYPE_TF32 && r->math != TYPE_BF16)
        return error_set(err, ERROR_FAILED, "no number type");
    if ((r->math == TYPE_BF16) != (r->type == CUDA_BF16) ||
        (r->type == CUDA_F32 && r->result == CUDA_BF16))
        return error_set(err, ERROR_FAILED, "types that cuBLASLt does not multiply");
    /* cuBLASLt takes a bias of the result's type here; biases are f32. */
    if (r->bias && r->result == CUDA_BF16)
        return error_set(err, ERROR_FAILED, "cuBLASLt adds no f32 bias to a bf16 result");
    return true;
}

static cublasLtEpilogue_t epilogue(const struct matmul_request *r)
{
    if (r->bias)
        return r->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return r->relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

static bool set_bias(const struct matmul *matmul, const float *bias, struct error *err)
{
    return cublaslt_check(matmul->api,
                          matmul->api->MatmulDescSetAttribute(matmul->operation,
                                                              CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                              &bias, sizeof bias),
                          "the bias for cuBLASLt", err);
}

static bool make_operation(struct matmul *matmul, struct error *err)
{
    static const char what[] = "a matrix product for cuBLASLt";
    const struct cublaslt_api *api = matmul->api;
    const struct matmul_request *r = &matmul->request;
    cublasOperation_t of_a = r->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t of_b = r->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t after = epilogue(r);
    int32_t bias_type = CUDA_R_32F;
    const struct {
        cublasLtMatmulDescAttributes_t name;
        const void *value;
        size_t size;
    } attributes[] = {
        {CUBLASLT_MATMUL_DESC_TRANSA, &of_b, sizeof of_b},
        {CUBLASLT_MATMUL_DESC_TRANSB, &of_a, sizeof of_a},
        {CUBLASLT_MATMUL_DESC_EPILOGUE, &after, sizeof after},
        {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type, sizeof bias_type}, /* with a bias only */
    };
    cublasComputeType_t compute =
        r->math == TYPE_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    if (!cublaslt_check(api, api->MatmulDescCreate(&matmul->operation, compute, CUDA_R_32F), what,
                        err))
        return false;
    size_t count = sizeof attributes / sizeof *attributes - (r->bias ? 0 : 1);
    for (size_t i = 0; i < count; i++)
        if (!cublaslt_check(api,
                            api->MatmulDescSetAttribute(matmul->operation, attributes[i].name,
                                                        attributes[i].value, attributes[i].size),
                            what, err))
            return false;
    /* The heuristics look at the address for its alignment alone. */
    return !r->bias || set_bias(matmul, (const float *)(uintptr_t)ALIGNMENT, err);
}

/* A row-major matrix of rows x columns, as cuBLASLt sees it. */
static bool make_layout(const struct matmul *matmul, cublasLtMatrixLayout_t *out,
                        enum cuda_type type, int rows, int columns, struct error *err)
{
    return cublaslt_check(matmul->api,
                          matmul->api->MatrixLayoutCreate(out, data_type(type), (uint64_t)columns,
                                                          (uint64_t)rows, columns),
                          "a matrix for cuBLASLt", err);
}

static bool make_layouts(struct matmul *matmul, struct error *err)
{
    const struct matmul_request *r = &matmul->request;
    return make_layout(matmul, &matmul->a, r->type, r->transpose_a ? r->k : r->m,
                       r->transpose_a ? r->m : r->k, err) &&
           make_layout(matmul, &matmul->b, r->type, r->transpose_b ? r->n : r->k,
                       r->transpose_b ? r->k : r->n, err) &&
           make_layout(matmul, &matmul->c, r->result, r->m, r->n, err);
}

static bool set_preferences(const struct cublaslt_api *api, cublasLtMatmulPreference_t preference,
                            size_t workspace_limit, struct error *err)
{
    uint64_t workspace = workspace_limit;
    /* A product that is cut along k adds the pieces as f32, whatever the result's type. */
    uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    uint32_t alignment = ALIGNMENT;
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const void *value;
        size_t size;
    } attributes[] = {
        {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace},
        {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &alignment, sizeof alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &alignment, sizeof alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &alignment, sizeof alignment},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &alignment, sizeof alignment},
    };
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (!cublaslt_check(api,
                            api->MatmulPreferenceSetAttribute(preference, attributes[i].name,
                                                              attributes[i].value,
                                                              attributes[i].size),
                            "limits for cuBLASLt", err))
            return false;
    return true;
}

/* What the library's heuristics put first. */
static bool choose_algorithm(struct matmul *matmul, size_t workspace_limit, struct error *err)
{
    const struct cublaslt_api *api = matmul->api;
    cublasLtMatmulPreference_t preference = NULL;
    cublasLtMatmulHeuristicResult_t result = {.state = CUBLAS_STATUS_NOT_SUPPORTED};
    int count = 0;
    if (!cublaslt_check(api, api->MatmulPreferenceCreate(&preference), "limits for cuBLASLt", err))
        return false;
    bool ok = set_preferences(api, preference, workspace_limit, err) &&
              cublaslt_check(api,
                             api->MatmulAlgoGetHeuristic(matmul->handle, matmul->operation,
                                                         matmul->b, matmul->a, matmul->c, matmul->c,
                                                         preference, 1, &result, &count),
                             "cuBLASLt has no algorithm", err);
    (void)api->MatmulPreferenceDestroy(preference);
    if (!ok)
        return false;
    if (!count)
        return error_set(err, ERROR_FAILED, "cuBLASLt has no algorithm");
    if (!cublaslt_check(api, result.state, "cuBLASLt has no algorithm", err))
        return false;
    matmul->algorithm = result.algo;
    matmul->workspace = result.workspaceSize;
    return true;
}

bool matmul_create(const struct cublaslt_api *api, cublasLtHandle_t handle,
                   const struct matmul_request *request, size_t workspace_limit,
                   struct matmul **out, struct error *err)
{
    char text[160];
    *out = NULL;
    request_text(request, text, sizeof text);
    struct matmul *matmul = calloc(1, sizeof *matmul);
    if (!matmul)
        return error_memory(err, text);
    matmul->api = api;
    matmul->handle = handle;
    matmul->request = *request;
    if (!check_request(request, err) || !make_operation(matmul, err) ||
        !make_layouts(matmul, err) || !choose_algorithm(matmul, workspace_limit, err)) {
        matmul_destroy(matmul);
        return error_prefix(err, "%s", text);
    }
    *out = matmul;
    return true;
}

void matmul_destroy(struct matmul *matmul)
{
    if (!matmul)
        return;
    const cublasLtMatrixLayout_t layouts[] = {matmul->a, matmul->b, matmul->c};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i])
            (void)matmul->api->MatrixLayoutDestroy(layouts[i]);
    if (matmul->operation)
        (void)matmul->api->MatmulDescDestroy(matmul->operation);
    free(matmul);
}

size_t matmul_workspace(const struct matmul *matmul)
{
    return matmul->workspace;
}

bool matmul_run(const struct matmul *matmul, const void *a, const void *b, const float *bias,
                void *c, void *workspace, cudaStream_t stream, struct error *err)
{
    static const float one = 1, zero = 0;
    char text[160];
    if (matmul->request.bias && !set_bias(matmul, bias, err))
        return false;
    return cublaslt_check(matmul->api,
                          matmul->api->Matmul(matmul->handle, matmul->operation, &one, b, matmul->b,
                                              a, matmul->a, &zero, c, matmul->c, c, matmul->c,
                                              &matmul->algorithm, workspace, matmul->workspace,
                                              stream),
                          request_text(&matmul->request, text, sizeof text), err);
}

/* SPDX-License-Identifier: MIT */
#include <algorithm>
#include <cstring>

#include "tests/simgpu/libraries/cublaslt.hpp"
#include "tests/simgpu/numbers.hpp"

/* Choosing an algorithm of cuBLASLt, and multiplying. */

using namespace simgpu;
using namespace simgpu::lt;

namespace
{
bool adds_bias(const product &p)
{
    return p.epilogue == CUBLASLT_EPILOGUE_BIAS || p.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
}

bool has_relu(const product &p)
{
    return p.epilogue == CUBLASLT_EPILOGUE_RELU || p.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
}

/* What the library multiplies at all. */
bool supported(const product &p, const layout &a, const layout &b, const layout &c, const layout &d)
{
    if (p.epilogue != CUBLASLT_EPILOGUE_DEFAULT && the_machine().refuse_epilogues)
        return false;
    bool known = p.epilogue == CUBLASLT_EPILOGUE_DEFAULT || adds_bias(p) || has_relu(p);
    bool types = a.type == b.type && c.type == d.type &&
                 (a.type == CUDA_R_32F ? d.type == CUDA_R_32F
                                       : d.type == CUDA_R_32F || d.type == CUDA_R_16BF);
    bool compute = p.compute == CUBLAS_COMPUTE_32F ||
                   (p.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type == CUDA_R_32F);
    bool bias = !adds_bias(p) || p.bias_type < 0 || p.bias_type == d.type;
    return known && types && compute && bias;
}

bool sizes_fit(const product &p, const layout &a, const layout &b, const layout &d)
{
    int64_t m = p.of_a == CUBLAS_OP_N ? a.rows : a.columns;
    int64_t k = p.of_a == CUBLAS_OP_N ? a.columns : a.rows;
    int64_t k_of_b = p.of_b == CUBLAS_OP_N ? b.rows : b.columns;
    int64_t n = p.of_b == CUBLAS_OP_N ? b.columns : b.rows;
    return m == d.rows && n == d.columns && k == k_of_b;
}

float number(const void *from, cudaDataType type, int64_t i)
{
    return type == CUDA_R_16BF ? from_bf16(static_cast<const uint16_t *>(from)[i])
                               : static_cast<const float *>(from)[i];
}

/* A factor as rows x k, row-major, so that sums run along memory. */
std::vector<float> factor(const void *from, const layout &l, bool transpose, bool tf32)
{
    int64_t rows = transpose ? l.columns : l.rows, k = transpose ? l.rows : l.columns;
    std::vector<float> out(static_cast<size_t>(rows * k));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < k; j++) {
            float x = number(from, l.type, transpose ? j + i * l.stride : i + j * l.stride);
            out[static_cast<size_t>(i * k + j)] = tf32 ? round_tf32(x) : x;
        }
    return out;
}

struct job {
    product what;
    layout a, b, c, d;
    const void *a_data, *b_data, *c_data;
    void *d_data;
    float alpha, beta;
};

void multiply(const job &j)
{
    bool tf32 = j.what.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    std::vector<float> a = factor(j.a_data, j.a, j.what.of_a != CUBLAS_OP_N, tf32);
    std::vector<float> b = factor(j.b_data, j.b, j.what.of_b == CUBLAS_OP_N, tf32);
    int64_t k = static_cast<int64_t>(a.size()) / j.d.rows;
    for (int64_t col = 0; col < j.d.columns; col++)
        for (int64_t row = 0; row < j.d.rows; row++) {
            const float *x = &a[static_cast<size_t>(row * k)],
                        *y = &b[static_cast<size_t>(col * k)];
            double sum = 0;
            for (int64_t i = 0; i < k; i++)
                sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
            float v = j.alpha * static_cast<float>(sum);
            if (j.beta != 0)
                v += j.beta * number(j.c_data, j.c.type, row + col * j.c.stride);
            if (adds_bias(j.what))
                v += number(j.what.bias, j.d.type, row);
            if (has_relu(j.what))
                v = v > 0 ? v : 0;
            int64_t at = row + col * j.d.stride;
            if (j.d.type == CUDA_R_16BF)
                static_cast<uint16_t *>(j.d_data)[at] = to_bf16(v);
            else
                static_cast<float *>(j.d_data)[at] = v;
        }
}

bool usable(int device, const void *p, size_t size, uint32_t alignment, const char *what)
{
    if (reinterpret_cast<uintptr_t>(p) % alignment) {
        fault("cuBLASLt is given %s that is not aligned to %u bytes", what, alignment);
        return false;
    }
    if (size == 0 || device_can_use(device, p, size))
        return true;
    fault("cuBLASLt is given %s of %zu bytes where there is no such memory", what, size);
    return false;
}

bool all_usable(int device, const job &j, const algorithm &chosen, void *workspace)
{
    return usable(device, j.a_data, j.a.bytes(), chosen.alignment[0], "a matrix A") &&
           usable(device, j.b_data, j.b.bytes(), chosen.alignment[1], "a matrix B") &&
           (j.beta == 0 ||
            usable(device, j.c_data, j.c.bytes(), chosen.alignment[2], "a matrix C")) &&
           usable(device, j.d_data, j.d.bytes(), chosen.alignment[3], "a matrix D") &&
           (!adds_bias(j.what) ||
            usable(device, j.what.bias, static_cast<size_t>(j.d.rows) * j.d.element(), 4,
                   "a bias")) &&
           (!chosen.workspace || usable(device, workspace, chosen.workspace, 256, "a workspace"));
}
} // namespace

extern "C" {

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a_, cublasLtMatrixLayout_t b_,
                                              cublasLtMatrixLayout_t c_, cublasLtMatrixLayout_t d_,
                                              cublasLtMatmulPreference_t pref, int wanted,
                                              cublasLtMatmulHeuristicResult_t *results, int *count)
{
    guard held(the_machine().lock);
    auto p = find<product>(desc);
    auto a = find<layout>(a_), b = find<layout>(b_), c = find<layout>(c_), d = find<layout>(d_);
    auto limits = find<preference>(pref);
    *count = 0;
    if (!find<context>(handle) || !p || !a || !b || !c || !d || !limits || wanted < 1 ||
        !sizes_fit(*p, *a, *b, *d))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!supported(*p, *a, *b, *c, *d))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    algorithm chosen = {algorithm_mark, 0, {}};
    if (limits->workspace >= wanted_workspace)
        chosen.workspace = wanted_workspace;
    std::copy_n(limits->alignment, 4, chosen.alignment);
    *results = cublasLtMatmulHeuristicResult_t();
    memcpy(&results->algo, &chosen, sizeof chosen);
    results->workspaceSize = chosen.workspace;
    results->state = CUBLAS_STATUS_SUCCESS;
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a_data, cublasLtMatrixLayout_t a_, const void *b_data,
                              cublasLtMatrixLayout_t b_, const void *beta, const void *c_data,
                              cublasLtMatrixLayout_t c_, void *d_data, cublasLtMatrixLayout_t d_,
                              const cublasLtMatmulAlgo_t *algo, void *workspace, size_t size,
                              cudaStream_t given)
{
    guard held(the_machine().lock);
    int failure;
    if (asked_to_fail("cublasLtMatmul", &failure))
        return static_cast<cublasStatus_t>(failure);
    auto p = find<product>(desc);
    auto a = find<layout>(a_), b = find<layout>(b_), c = find<layout>(c_), d = find<layout>(d_);
    auto library = find<context>(handle);
    algorithm chosen = {};
    if (algo)
        memcpy(&chosen, algo, sizeof chosen);
    if (!library || !p || !a || !b || !c || !d || chosen.mark != algorithm_mark ||
        size < chosen.workspace || !sizes_fit(*p, *a, *b, *d) || !supported(*p, *a, *b, *c, *d))
        return CUBLAS_STATUS_INVALID_VALUE;
    cudaStream_t stream = stream_of(given);
    if (!stream_exists(stream) || stream->device != library->device)
        return CUBLAS_STATUS_INVALID_VALUE;
    job j = {*p,
             *a,
             *b,
             *c,
             *d,
             a_data,
             b_data,
             c_data,
             d_data,
             *static_cast<const float *>(alpha),
             *static_cast<const float *>(beta)};
    if (!all_usable(library->device, j, chosen, workspace))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    cudaError_t queued = enqueue(
        stream, {"cuBLASLt product",
                 [=] {
                     if (chosen.workspace)
                         memset(workspace, static_cast<int>(random_number(256)), chosen.workspace);
                     multiply(j);
                     return cudaSuccess;
                 },
                 {},
                 {}});
    return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

} /* extern "C" */

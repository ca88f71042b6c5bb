/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_TESTS_SIMGPU_CUBLASLT_HPP
#define DPARTUI_TESTS_SIMGPU_CUBLASLT_HPP

#include <cublasLt.h>

#include "tests/simgpu/machine.hpp"

/*
 * A stand-in for cuBLASLt: D = alpha op(A) op(B) + beta C with bias and ReLU, column-major, f32 and
 * bf16. f32 factors are rounded to TF32 only when that was asked for. Its one algorithm wants a
 * workspace where it may, and overwrites it.
 */
namespace simgpu
{
namespace lt
{

constexpr uint64_t algorithm_mark = 0x73696d67707531;
constexpr size_t wanted_workspace = 64 << 10;

struct context {
    int device;
};

struct product {
    cublasComputeType_t compute;
    cublasOperation_t of_a = CUBLAS_OP_N, of_b = CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void *bias = nullptr;
    int32_t bias_type = -1; /* -1: the result's */
};

struct layout {
    cudaDataType type;
    int64_t rows, columns, stride;
    size_t element() const
    {
        return type == CUDA_R_16BF ? 2 : 4;
    }
    size_t bytes() const
    {
        return static_cast<size_t>((columns - 1) * stride + rows) * element();
    }
};

struct preference {
    uint64_t workspace = 0;
    uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
    uint32_t alignment[4] = {256, 256, 256, 256}; /* A, B, C, D */
};

/* What an algorithm's opaque words hold. */
struct algorithm {
    uint64_t mark, workspace;
    uint32_t alignment[4];
};
static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t));

template <typename T, typename Handle> std::shared_ptr<T> find(Handle handle)
{
    return lib_find(reinterpret_cast<const T *>(handle));
}

template <typename Handle, typename T> void give(Handle *out, T made)
{
    *out = reinterpret_cast<Handle>(lib_make(std::make_shared<T>(made)));
}

} // namespace lt
} // namespace simgpu

#endif

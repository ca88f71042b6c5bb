/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/cuda/dnn/matmul.h"
#include "tests/suites.h"
#ifndef DPARTUI_REAL_GPU
#include "tests/simgpu/simgpu.h"
#endif

/* Matrix products compared with plain loops in f64: on the simulated GPU, or, linked with the real
 * libraries, on a GPU. */
#define WORKSPACE_LIMIT ((size_t)8 << 20)

static struct error err;
static const struct cublaslt_api *api;
static cublasLtHandle_t handle;
static cudaStream_t stream;

static void must(bool done)
{
    ck_assert_msg(done, "%s", err.text);
}

static void must_cuda(cudaError_t status)
{
    must(cuda_check(status, "the CUDA runtime", &err));
}

static void setup(void)
{
    err = (struct error)ERROR_INIT;
#ifndef DPARTUI_REAL_GPU
    simgpu_reset(NULL);
#endif
    api = cublaslt_open(&err);
    must(api != NULL);
    must_cuda(cudaSetDevice(0));
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    must(cublaslt_check(api, api->Create(&handle), "cublasLtCreate", &err));
}

static void teardown(void)
{
    ck_assert_int_eq(api->Destroy(handle), CUBLAS_STATUS_SUCCESS);
    must_cuda(cudaStreamDestroy(stream));
#ifndef DPARTUI_REAL_GPU
    ck_assert_str_eq(simgpu_first_fault(), "");
    ck_assert_int_eq(simgpu_live_objects(), 0);
#endif
}

/* Numbers in [-1, 1) that a bf16 can hold. */
static float *random_numbers(size_t count, uint32_t part)
{
    struct rng_stream numbers = rng_stream(11, RNG_RANDOM_DATA, part, 0, 0);
    float *out = calloc(count + 4, sizeof *out);
    ck_assert_ptr_nonnull(out);
    for (uint32_t block = 0; block * 4 < count; block++) {
        uint32_t words[4];
        rng_block(&numbers, block, words);
        for (uint32_t i = 0; i < 4; i++) {
            float value = (float)((int32_t)words[i] >> 25) / 64;
            out[4 * block + i] = value;
        }
    }
    return out;
}

static void *to_device(const float *numbers, size_t count, enum cuda_type type)
{
    void *out;
    uint16_t *narrow = calloc(count, sizeof *narrow);
    ck_assert_ptr_nonnull(narrow);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        narrow[i] = (uint16_t)(bits >> 16);
    }
    must_cuda(cudaMalloc(&out, count * cuda_type_size(type)));
    must_cuda(cudaMemcpyAsync(out, type == CUDA_BF16 ? (const void *)narrow : numbers,
                              count * cuda_type_size(type), cudaMemcpyHostToDevice, stream));
    must_cuda(cudaStreamSynchronize(stream));
    free(narrow);
    return out;
}

static double number_of(const void *data, enum cuda_type type, size_t at)
{
    uint32_t bits = 0;
    float value;
    if (type == CUDA_F32)
        return (double)((const float *)data)[at];
    bits = (uint32_t)((const uint16_t *)data)[at] << 16;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void compare(const struct matmul_request *r, const float *a, const float *b,
                    const float *bias, const void *c)
{
    /* The factors have eight bits, so that not even TF32 rounds them. */
    double store_error = r->result == CUDA_BF16 ? 0x1p-8 : 1e-6;
    for (int i = 0; i < r->m; i++)
        for (int j = 0; j < r->n; j++) {
            double want = r->bias ? (double)bias[j] : 0, magnitude = fabs(want);
            for (int k = 0; k < r->k; k++) {
                double term = (double)a[r->transpose_a ? k * r->m + i : i * r->k + k] *
                              (double)b[r->transpose_b ? j * r->k + k : k * r->n + j];
                want += term;
                magnitude += fabs(term);
            }
            if (r->relu && want < 0)
                want = 0;
            double got = number_of(c, r->result, (size_t)i * (size_t)r->n + (size_t)j);
            ck_assert_msg(fabs(got - want) <= 1e-5 * magnitude + store_error * fabs(want),
                          "c[%d][%d] is %.9g, not %.9g", i, j, got, want);
        }
}

/* Make, run, compare. */
static void check_product(const struct matmul_request *r)
{
    size_t a_count = (size_t)r->m * (size_t)r->k, b_count = (size_t)r->k * (size_t)r->n;
    size_t c_count = (size_t)r->m * (size_t)r->n, c_bytes = c_count * cuda_type_size(r->result);
    float *a = random_numbers(a_count, 1), *b = random_numbers(b_count, 2);
    float *bias = random_numbers((size_t)r->n, 3);
    void *device_a = to_device(a, a_count, r->type), *device_b = to_device(b, b_count, r->type);
    void *device_bias = to_device(bias, (size_t)r->n, CUDA_F32);
    void *device_c, *workspace = NULL, *c = malloc(c_bytes);
    struct matmul *matmul;
    ck_assert_ptr_nonnull(c);
    must(matmul_create(api, handle, r, WORKSPACE_LIMIT, &matmul, &err));
    ck_assert_uint_le(matmul_workspace(matmul), WORKSPACE_LIMIT);
    if (matmul_workspace(matmul))
        must_cuda(cudaMalloc(&workspace, matmul_workspace(matmul)));
    must_cuda(cudaMalloc(&device_c, c_bytes));
    must_cuda(cudaMemsetAsync(device_c, 0xff, c_bytes, stream));
    must(matmul_run(matmul, device_a, device_b, device_bias, device_c, workspace, stream, &err));
    must_cuda(cudaMemcpyAsync(c, device_c, c_bytes, cudaMemcpyDeviceToHost, stream));
    must_cuda(cudaStreamSynchronize(stream));
    compare(r, a, b, bias, c);
    matmul_destroy(matmul);
    void *const memory[] = {device_a, device_b, device_bias, device_c, workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        must_cuda(cudaFree(memory[i]));
    free(a);
    free(b);
    free(bias);
    free(c);
}

static const struct {
    enum number_type math;
    enum cuda_type type, result;
} kinds[] = {
    {TYPE_F32, CUDA_F32, CUDA_F32},
    {TYPE_TF32, CUDA_F32, CUDA_F32},
    {TYPE_BF16, CUDA_BF16, CUDA_F32},
    {TYPE_BF16, CUDA_BF16, CUDA_BF16},
};

static struct matmul_request request_of(int kind)
{
    return (struct matmul_request){
        .m = 24,
        .n = 16,
        .k = 40,
        .math = kinds[kind].math,
        .type = kinds[kind].type,
        .result = kinds[kind].result,
    };
}

#define KINDS ((int)(sizeof kinds / sizeof *kinds))

START_TEST(products_agree_with_plain_loops)
{
    for (int transposed = 0; transposed < 4; transposed++) {
        struct matmul_request r = request_of(_i);
        r.transpose_a = transposed & 1;
        r.transpose_b = transposed & 2;
        check_product(&r);
    }
}
END_TEST

START_TEST(bias_and_relu_are_fused)
{
    for (int after = 1; after < 4; after++) {
        struct matmul_request r = request_of(_i);
        r.bias = (after & 1) && r.result == CUDA_F32;
        r.relu = after & 2;
        r.transpose_b = true; /* as in a linear layer */
        check_product(&r);
    }
}
END_TEST

START_TEST(what_cannot_be_multiplied_is_refused)
{
    struct matmul *matmul;
    struct matmul_request r = request_of(3);
    r.bias = true;
    ck_assert(!matmul_create(api, handle, &r, WORKSPACE_LIMIT, &matmul, &err));
    ck_assert_ptr_null(matmul);
    ck_assert_ptr_nonnull(strstr(err.text, "matrix product 24 x 16 x 40, bf16 -> bf16 + bias"));
    r = request_of(0);
    r.result = CUDA_BF16;
    ck_assert(!matmul_create(api, handle, &r, WORKSPACE_LIMIT, &matmul, &err));
    r = request_of(0);
    r.math = TYPE_BF16;
    ck_assert(!matmul_create(api, handle, &r, WORKSPACE_LIMIT, &matmul, &err));
    r = request_of(0);
    r.m = 0;
    ck_assert(!matmul_create(api, handle, &r, WORKSPACE_LIMIT, &matmul, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "empty"));
}
END_TEST

#ifndef DPARTUI_REAL_GPU
START_TEST(an_epilogue_that_the_library_has_not_is_a_clean_error)
{
    struct matmul *matmul;
    struct matmul_request r = request_of(0);
    r.bias = true;
    simgpu_refuse_epilogues(true);
    ck_assert(!matmul_create(api, handle, &r, WORKSPACE_LIMIT, &matmul, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "no algorithm"));
    r.bias = false;
    check_product(&r);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("matmul_sim");
    TCase *tcase = tcase_create("matmul_sim");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, products_agree_with_plain_loops, 0, KINDS);
    tcase_add_loop_test(tcase, bias_and_relu_are_fused, 0, KINDS);
    tcase_add_test(tcase, what_cannot_be_multiplied_is_refused);
#ifndef DPARTUI_REAL_GPU
    tcase_add_test(tcase, an_epilogue_that_the_library_has_not_is_a_clean_error);
#endif
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include "tests/engine/device/cuda/dnn/conv_fixture.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/rng.h"
#include "engine/device/cuda/dnn/conv/reference.h"
#include "tests/support.h"
#ifndef DPARTUI_REAL_GPU
#include "tests/simgpu/simgpu.h"
#endif

struct error conv_err;
struct conv_maker conv_maker;
char *conv_folder, *conv_cache, *conv_store;
static float *host[CONV_ROLES];
static void *device[CONV_ROLES];

void conv_must(bool done)
{
    ck_assert_msg(done, "%s", conv_err.text);
}

static void must_cuda(cudaError_t status)
{
    conv_must(cuda_check(status, "the CUDA runtime", &conv_err));
}

void conv_setup(void)
{
    conv_err = (struct error)ERROR_INIT;
    conv_folder = temporary_folder();
    conv_cache = path_join(conv_folder, "choices");
    conv_store = path_join(conv_folder, "plans");
#ifndef DPARTUI_REAL_GPU
    simgpu_reset(NULL);
#endif
    conv_maker = (struct conv_maker){
        .api = cudnn_open(&conv_err),
        .device_name = "test",
        .workspace_limit = (size_t)64 << 20,
    };
    conv_must(conv_maker.api != NULL);
    must_cuda(cudaSetDevice(0));
    must_cuda(cudaStreamCreateWithFlags(&conv_maker.stream, cudaStreamNonBlocking));
    conv_must(cudnn_check(conv_maker.api, conv_maker.api->Create(&conv_maker.handle), "cudnnCreate",
                          &conv_err));
    conv_must(cudnn_check(conv_maker.api,
                          conv_maker.api->SetStream(conv_maker.handle, conv_maker.stream),
                          "cudnnSetStream", &conv_err));
}

static void free_tensors(void)
{
    for (int role = 0; role < CONV_ROLES; role++) {
        free(host[role]);
        must_cuda(cudaFree(device[role]));
        host[role] = NULL;
        device[role] = NULL;
    }
}

void conv_teardown(void)
{
    free_tensors();
    ck_assert_int_eq(conv_maker.api->Destroy(conv_maker.handle), CUDNN_STATUS_SUCCESS);
    must_cuda(cudaStreamDestroy(conv_maker.stream));
#ifndef DPARTUI_REAL_GPU
    ck_assert_str_eq(simgpu_first_fault(), "");
    ck_assert_int_eq(simgpu_live_objects(), 0);
#endif
    free(conv_cache);
    free(conv_store);
    remove_tree(conv_folder);
}

static uint16_t to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float from_bf16(uint16_t value)
{
    uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Random numbers in [-1, 1) that both types hold. What is written is filled with NaN instead. */
static void make_tensor(const struct conv_request *r, enum conv_role role)
{
    size_t count = conv_role_count(r, role), bytes = conv_role_bytes(r, role);
    bool narrow = conv_role_type(r, role) == CUDA_BF16, written = conv_role_written(r, role);
    struct rng_stream stream = rng_stream(7, RNG_RANDOM_DATA, (uint32_t)role, 0, 0);
    host[role] = calloc(count + 4, sizeof(float));
    uint16_t *narrowed = calloc(count, sizeof *narrowed);
    ck_assert(host[role] && narrowed);
    for (uint32_t block = 0; block * 4 < count; block++) {
        uint32_t words[4];
        rng_block(&stream, block, words);
        for (uint32_t i = 0; i < 4; i++)
            host[role][4 * block + i] =
                written ? NAN : from_bf16(to_bf16((float)(int32_t)words[i] * 0x1p-31f));
    }
    for (size_t i = 0; i < count; i++)
        narrowed[i] = to_bf16(host[role][i]);
    must_cuda(cudaMalloc(&device[role], bytes));
    must_cuda(cudaMemcpyAsync(device[role], narrow ? (void *)narrowed : host[role], bytes,
                              cudaMemcpyHostToDevice, conv_maker.stream));
    must_cuda(cudaStreamSynchronize(conv_maker.stream));
    free(narrowed);
}

void conv_make_tensors(const struct conv_request *r)
{
    free_tensors();
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(r, role))
            make_tensor(r, role);
}

void conv_compare(const struct conv_request *r, enum conv_role role)
{
    size_t count = conv_role_count(r, role);
    bool narrow = conv_role_type(r, role) == CUDA_BF16;
    void *got = malloc(count * sizeof(float));
    char text[256];
    struct conv_inputs inputs = {.period = SIZE_MAX};
    for (int i = CONV_X; i < CONV_ROLES; i++)
        inputs.numbers[i] = host[i];
    ck_assert_ptr_nonnull(got);
    must_cuda(cudaMemcpyAsync(got, device[role], conv_role_bytes(r, role), cudaMemcpyDeviceToHost,
                              conv_maker.stream));
    must_cuda(cudaStreamSynchronize(conv_maker.stream));
    /* TF32 keeps ten bits of each factor; bf16 numbers are exact factors, and rounded when stored.
     */
    double sum_error = r->type == TYPE_TF32 ? 2e-3 : 1e-5, store_error = narrow ? 0x1p-8 : 1e-6;
    for (size_t i = 0; i < count; i++) {
        struct conv_sum want = conv_reference(r, &inputs, role, i);
        double value = (double)(narrow ? from_bf16(((uint16_t *)got)[i]) : ((float *)got)[i]);
        double limit = sum_error * want.magnitude + store_error * fabs(want.value);
        ck_assert_msg(fabs(value - want.value) <= limit, "%s: %s[%zu] is %.9g, not %.9g",
                      conv_request_text(r, text, sizeof text), conv_role_name(role), i, value,
                      want.value);
    }
    free(got);
}

void conv_run_plan(const struct conv_plan *plan)
{
    void *workspace = NULL;
    const struct conv_tensors tensors = {
        .x = device[CONV_X],
        .w = device[CONV_W],
        .y = device[CONV_Y],
        .bias = device[CONV_BIAS],
        .sums = device[CONV_SUMS],
        .squares = device[CONV_SQUARES],
    };
    if (conv_plan_workspace(plan))
        must_cuda(cudaMalloc(&workspace, conv_plan_workspace(plan)));
    conv_must(conv_plan_run(plan, conv_maker.handle, &tensors, workspace, &conv_err));
    must_cuda(cudaStreamSynchronize(conv_maker.stream));
    must_cuda(cudaFree(workspace));
}

struct conv_request conv_small_request(enum conv_pattern pattern, enum number_type type, int kernel,
                                       int stride)
{
    struct conv_request r = {
        .pattern = pattern,
        .type = type,
        .rows = 2,
        .in = 8,
        .in_h = 7,
        .in_w = 6,
        .out = 16,
        .kernel_h = kernel,
        .kernel_w = kernel,
        .stride_h = stride,
        .stride_w = stride,
        .pad_h = kernel / 2,
        .pad_w = kernel / 2,
        .dilation_h = 1,
        .dilation_w = 1,
    };
    r.out_h = (r.in_h + 2 * r.pad_h - kernel) / stride + 1;
    r.out_w = (r.in_w + 2 * r.pad_w - kernel) / stride + 1;
    return r;
}

char *conv_read_cache(void)
{
    struct error ignored = ERROR_INIT;
    char *text;
    size_t length;
    return file_read(conv_cache, 1 << 20, &text, &length, &ignored) ? text : NULL;
}

struct conv_plan *conv_tuned_plan(const struct conv_request *r)
{
    struct conv_plan *plan;
    conv_maker.autotune = true;
    conv_maker.cache_path = conv_cache;
    conv_maker.store_path = conv_store;
    conv_must(conv_plan_create(&conv_maker, r, &plan, &conv_err));
    return plan;
}

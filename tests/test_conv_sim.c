/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/rng.h"
#include "tests/conv_reference.h"
#include "tests/suites.h"
#include "tests/support.h"
#ifdef DPARTUI_SIMULATED_GPU
#include "tests/simgpu/simgpu.h"
#endif

/*
 * Convolutions run and compared with plain loops in f64: by default on the simulated GPU; linked
 * with the real libraries (tests/gpu) on a GPU, which may refuse fused patterns.
 */
static struct error err;
static struct conv_maker maker;
static char *folder, *cache;
static float *host[CONV_ROLES];
static void *device[CONV_ROLES];

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
    folder = temporary_folder();
    cache = path_join(folder, "choices");
#ifdef DPARTUI_SIMULATED_GPU
    simgpu_reset(NULL);
#endif
    maker = (struct conv_maker){
        .api = cudnn_open(&err),
        .device_name = "test",
        .workspace_limit = (size_t)64 << 20,
    };
    must(maker.api != NULL);
    must_cuda(cudaSetDevice(0));
    must_cuda(cudaStreamCreateWithFlags(&maker.stream, cudaStreamNonBlocking));
    must(cudnn_check(maker.api, maker.api->Create(&maker.handle), "cudnnCreate", &err));
    must(cudnn_check(maker.api, maker.api->SetStream(maker.handle, maker.stream), "cudnnSetStream",
                     &err));
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

static void teardown(void)
{
    free_tensors();
    ck_assert_int_eq(maker.api->Destroy(maker.handle), CUDNN_STATUS_SUCCESS);
    must_cuda(cudaStreamDestroy(maker.stream));
#ifdef DPARTUI_SIMULATED_GPU
    ck_assert_str_eq(simgpu_first_fault(), "");
    ck_assert_int_eq(simgpu_live_objects(), 0);
#endif
    free(cache);
    remove_tree(folder);
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
                              cudaMemcpyHostToDevice, maker.stream));
    must_cuda(cudaStreamSynchronize(maker.stream));
    free(narrowed);
}

static void make_tensors(const struct conv_request *r)
{
    free_tensors();
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(r, role))
            make_tensor(r, role);
}

static void compare(const struct conv_request *r, enum conv_role role)
{
    size_t count = conv_role_count(r, role);
    bool narrow = conv_role_type(r, role) == CUDA_BF16;
    void *got = malloc(count * sizeof(float));
    char text[256];
    ck_assert_ptr_nonnull(got);
    must_cuda(cudaMemcpyAsync(got, device[role], conv_role_bytes(r, role), cudaMemcpyDeviceToHost,
                              maker.stream));
    must_cuda(cudaStreamSynchronize(maker.stream));
    /* TF32 keeps ten bits of each factor; bf16 numbers are exact factors, and rounded when stored.
     */
    double sum_error = r->type == TYPE_TF32 ? 2e-3 : 1e-5, store_error = narrow ? 0x1p-8 : 1e-6;
    for (size_t i = 0; i < count; i++) {
        struct conv_sum want = conv_reference(r, host, role, i);
        double value = (double)(narrow ? from_bf16(((uint16_t *)got)[i]) : ((float *)got)[i]);
        double limit = sum_error * want.magnitude + store_error * fabs(want.value);
        ck_assert_msg(fabs(value - want.value) <= limit, "%s: %s[%zu] is %.9g, not %.9g",
                      conv_request_text(r, text, sizeof text), conv_role_name(role), i, value,
                      want.value);
    }
    free(got);
}

static void run_plan(const struct conv_plan *plan)
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
    must(conv_plan_run(plan, maker.handle, &tensors, workspace, &err));
    must_cuda(cudaStreamSynchronize(maker.stream));
    must_cuda(cudaFree(workspace));
}

/* Make, run, compare. False: a fused pattern that this cuDNN does not take. */
static bool check_request(const struct conv_request *r)
{
    struct conv_plan *plan;
    make_tensors(r);
    bool fused = r->pattern == CONV_FORWARD_STATS || r->pattern == CONV_FORWARD_BIAS;
    bool made = conv_plan_create(&maker, r, &plan, &err);
    if (!made && fused)
        return false;
    must(made);
    run_plan(plan);
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(r, role) && conv_role_written(r, role))
            compare(r, role);
    conv_plan_destroy(plan);
    return true;
}

static struct conv_request small_request(enum conv_pattern pattern, enum number_type type,
                                         int kernel, int stride)
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
    };
    r.out_h = (r.in_h + 2 * r.pad_h - kernel) / stride + 1;
    r.out_w = (r.in_w + 2 * r.pad_w - kernel) / stride + 1;
    return r;
}

static const enum number_type types[] = {TYPE_F32, TYPE_TF32, TYPE_BF16};

/* One pattern, all types, kernels and strides. */
START_TEST(results_agree_with_plain_loops)
{
    int checked = 0;
    for (int type = 0; type < 3; type++)
        for (int kernel = 1; kernel <= 5; kernel += 2)
            for (int stride = 1; stride <= 2; stride++) {
                struct conv_request r =
                    small_request((enum conv_pattern)_i, types[type], kernel, stride);
                checked += check_request(&r);
            }
    ck_assert_int_gt(checked, 0);
}
END_TEST

START_TEST(unequal_sides_and_no_padding)
{
    static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_DATA, CONV_WEIGHTS};
    for (int i = 0; i < 3; i++) {
        struct conv_request r = small_request(patterns[i], TYPE_F32, 3, 1);
        r.kernel_w = 1;
        r.stride_h = 2;
        r.pad_h = r.pad_w = 0;
        r.out_h = 3;
        r.out_w = r.in_w;
        ck_assert(check_request(&r));
    }
}
END_TEST

START_TEST(bias_with_and_without_relu)
{
    struct conv_request r = small_request(CONV_FORWARD_BIAS, TYPE_BF16, 3, 1);
    r.relu = _i;
    ck_assert_msg(check_request(&r), "%s", err.text);
}
END_TEST

/* The file of choices; NULL: there is none. For the caller to free. */
static char *read_cache(void)
{
    struct error ignored = ERROR_INIT;
    char *text;
    size_t length;
    return file_read(cache, 1 << 20, &text, &length, &ignored) ? text : NULL;
}

static struct conv_plan *tuned_plan(const struct conv_request *r)
{
    struct conv_plan *plan;
    maker.tune = true;
    maker.cache_path = cache;
    must(conv_plan_create(&maker, r, &plan, &err));
    return plan;
}

START_TEST(tuned_choices_are_remembered)
{
    struct conv_request r = small_request(CONV_WEIGHTS, TYPE_BF16, 3, 1);
    struct conv_plan *first = tuned_plan(&r);
    ck_assert(conv_plan_seconds(first) >= 0);
    ck_assert_int_eq(maker.cache_error.kind, ERROR_NONE);
    char *before = read_cache();
    ck_assert_ptr_nonnull(before);
    ck_assert_ptr_nonnull(
        strstr(before, "\ttest\tconv 3x3/1 8x7x6 -> 16, 2 rows, bf16, weights\t"));
    struct conv_plan *second = tuned_plan(&r);
    ck_assert_str_eq(conv_plan_name(second), conv_plan_name(first));
    ck_assert_uint_eq(conv_plan_workspace(second), conv_plan_workspace(first));
    /* Nothing was timed again: the file is as it was. */
    char *after = read_cache();
    ck_assert_str_eq(after, before);
    /* What was remembered computes. */
    make_tensors(&r);
    run_plan(second);
    compare(&r, CONV_W);
    free(before);
    free(after);
    conv_plan_destroy(first);
    conv_plan_destroy(second);
}
END_TEST

START_TEST(a_choice_that_cannot_be_built_is_found_anew)
{
    struct conv_request r = small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    conv_plan_destroy(tuned_plan(&r));
    char *text = read_cache(), *engine = strstr(text, "forward\t");
    ck_assert_ptr_nonnull(engine);
    engine += strlen("forward\t");
    char *changed = format("%.*s9999%s", (int)(engine - text), text, strchr(engine, '\t'));
    put_file(folder, "choices", changed, strlen(changed));
    conv_plan_destroy(tuned_plan(&r));
    char *after = read_cache();
    ck_assert_ptr_null(strstr(after, "9999"));
    ck_assert_ptr_nonnull(strstr(after, "forward\t"));
    free(after);
    free(changed);
    free(text);
}
END_TEST

START_TEST(deterministic_plans_are_not_timed)
{
    struct conv_request r = small_request(CONV_WEIGHTS, TYPE_BF16, 3, 1);
    r.deterministic = true;
    struct conv_plan *plan = tuned_plan(&r);
    ck_assert(isnan(conv_plan_seconds(plan)));
    ck_assert_int_ne(access(cache, F_OK), 0);
    conv_plan_destroy(plan);
    ck_assert(check_request(&r));
}
END_TEST

START_TEST(a_cache_that_cannot_be_written_is_told_and_no_more)
{
    struct conv_request r = small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    ck_assert_int_eq(mkdir(cache, 0700), 0);
    struct conv_plan *plan = tuned_plan(&r);
    ck_assert_int_eq(maker.cache_error.kind, ERROR_FAILED);
    conv_plan_destroy(plan);
}
END_TEST

START_TEST(a_run_without_a_tensor_is_refused)
{
    struct conv_request r = small_request(CONV_FORWARD, TYPE_F32, 1, 1);
    struct conv_plan *plan;
    struct conv_tensors tensors = {.x = NULL};
    must(conv_plan_create(&maker, &r, &plan, &err));
    ck_assert(!conv_plan_run(plan, maker.handle, &tensors, NULL, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "without x"));
    conv_plan_destroy(plan);
}
END_TEST

#ifdef DPARTUI_SIMULATED_GPU
START_TEST(too_little_memory_for_tuning_is_no_error)
{
    struct conv_request r = small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    simgpu_fail_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
    struct conv_plan *plan = tuned_plan(&r);
    ck_assert(isnan(conv_plan_seconds(plan)));
    ck_assert_int_ne(access(cache, F_OK), 0);
    conv_plan_destroy(plan);
}
END_TEST

START_TEST(a_device_that_breaks_while_tuning_is_an_error)
{
    struct conv_request r = small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    struct conv_plan *plan;
    maker.tune = true;
    simgpu_fail_call("cudaEventElapsedTime", 1, cudaErrorIllegalAddress);
    ck_assert(!conv_plan_create(&maker, &r, &plan, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cudaEventElapsedTime"));
}
END_TEST

START_TEST(candidates_that_fail_are_left_out)
{
    struct conv_request r = small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    struct conv_plan *plan;
    /* One cannot be built, another does not start. */
    simgpu_refuse_engine(0, true);
    simgpu_fail_call("cudnnBackendExecute", 1, CUDNN_STATUS_EXECUTION_FAILED);
    maker.tune = false;
    must(conv_plan_create(&maker, &r, &plan, &err));
    ck_assert_int_ne(strncmp(conv_plan_name(plan), "eng0", 4), 0);
    conv_plan_destroy(plan);
    simgpu_refuse_engine(0, false);
    plan = tuned_plan(&r);
    conv_plan_destroy(plan);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("conv_sim");
    TCase *tcase = tcase_create("conv_sim");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, results_agree_with_plain_loops, 0, CONV_PATTERNS);
    tcase_add_test(tcase, unequal_sides_and_no_padding);
    tcase_add_loop_test(tcase, bias_with_and_without_relu, 0, 2);
    tcase_add_test(tcase, tuned_choices_are_remembered);
    tcase_add_test(tcase, a_choice_that_cannot_be_built_is_found_anew);
    tcase_add_test(tcase, deterministic_plans_are_not_timed);
    tcase_add_test(tcase, a_cache_that_cannot_be_written_is_told_and_no_more);
    tcase_add_test(tcase, a_run_without_a_tensor_is_refused);
#ifdef DPARTUI_SIMULATED_GPU
    tcase_add_test(tcase, too_little_memory_for_tuning_is_no_error);
    tcase_add_test(tcase, a_device_that_breaks_while_tuning_is_an_error);
    tcase_add_test(tcase, candidates_that_fail_are_left_out);
#endif
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}

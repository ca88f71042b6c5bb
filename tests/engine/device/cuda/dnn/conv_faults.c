/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/device/cuda/dnn/conv/search.h"
#include "engine/device/cuda/dnn/conv/table.h"
#include "tests/engine/device/cuda/dnn/conv_fixture.h"
#include "tests/support.h"

/* Engines that fail, are wrong or have to be compiled, and what is kept of them: on the simulated
 * GPU only, whose engines do as they are told. Linked into test_conv_sim. */
#ifndef DPARTUI_REAL_GPU
#include "tests/simgpu/simgpu.h"

START_TEST(too_little_memory_for_tuning_is_no_error)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    simgpu_fail_call("cudaMalloc", 2, cudaErrorMemoryAllocation);
    struct conv_plan *plan = conv_tuned_plan(&r);
    ck_assert(isnan(conv_plan_seconds(plan)));
    ck_assert_int_ne(access(conv_cache, F_OK), 0);
    conv_plan_destroy(plan);
}
END_TEST

START_TEST(a_device_that_breaks_while_tuning_is_an_error)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    struct conv_plan *plan;
    conv_maker.autotune = true;
    simgpu_fail_call("cudaEventElapsedTime", 1, cudaErrorIllegalAddress);
    ck_assert(!conv_plan_create(&conv_maker, &r, &plan, &conv_err));
    ck_assert_ptr_nonnull(strstr(conv_err.text, "cudaEventElapsedTime"));
}
END_TEST

START_TEST(candidates_that_fail_are_left_out)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    struct conv_plan *plan;
    /* One cannot be built, another does not start. */
    simgpu_refuse_engine(0, true);
    simgpu_fail_call("cudnnBackendExecute", 1, CUDNN_STATUS_EXECUTION_FAILED);
    conv_maker.autotune = false;
    conv_must(conv_plan_create(&conv_maker, &r, &plan, &conv_err));
    ck_assert_int_ne(strncmp(conv_plan_name(plan), "eng0", 4), 0);
    conv_plan_destroy(plan);
    simgpu_refuse_engine(0, false);
    plan = conv_tuned_plan(&r);
    conv_plan_destroy(plan);
}
END_TEST

static struct conv_request compiled_request(void)
{
    simgpu_refuse_engine(0, true);
    simgpu_refuse_engine(1, true);
    return conv_small_request(CONV_FORWARD_STATS, TYPE_BF16, 3, 1);
}

/* The one file in the folder of plans; the caller frees it. */
static char *kept_plan(void)
{
    char *path = NULL;
    DIR *plans = opendir(conv_store);
    ck_assert_ptr_nonnull(plans);
    for (struct dirent *entry; (entry = readdir(plans));)
        if (entry->d_name[0] != '.') {
            ck_assert_ptr_null(path);
            path = path_join(conv_store, entry->d_name);
        }
    closedir(plans);
    ck_assert_ptr_nonnull(path);
    return path;
}

/* Damage: cut off, a byte changed, another's file, nothing at all. */
START_TEST(damaged_plans_are_compiled_anew)
{
    struct conv_request r = compiled_request();
    char *data;
    size_t length;
    conv_plan_destroy(conv_tuned_plan(&r));
    char *path = kept_plan(), *name = strrchr(path, '/') + 1;
    conv_must(file_read(path, 1 << 20, &data, &length, &conv_err));
    if (_i == 1)
        data[length - 1] ^= 1;
    else if (_i == 2)
        data[strcspn(data, "\n") + 1] ^= 1;
    put_file(conv_store, name, data, _i == 0 ? length / 2 : _i == 3 ? 0 : length);
    const long compiled = simgpu_calls("cuDNN plan compiled");
    conv_plan_destroy(conv_tuned_plan(&r));
    ck_assert_int_eq(simgpu_calls("cuDNN plan compiled"), compiled + 1);
    ck_assert_int_eq(simgpu_calls("cuDNN plan loaded"), 0);
    ck_assert_ptr_nonnull(strstr(conv_maker.cache_error.text, "recompiled"));
    ck_assert_ptr_null(strchr(conv_maker.cache_error.text, '\n'));
    /* It is whole again. */
    conv_plan_destroy(conv_tuned_plan(&r));
    ck_assert_int_eq(simgpu_calls("cuDNN plan loaded"), 1);
    free(data);
    free(path);
}
END_TEST

/* A text that is ours and that this cuDNN does not take: no damage, and nobody needs to know. */
START_TEST(plans_that_cudnn_refuses_are_compiled_anew)
{
    struct conv_request r = compiled_request();
    conv_plan_destroy(conv_tuned_plan(&r));
    simgpu_fail_call("cuDNN plan loaded", 1, CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH);
    const long compiled = simgpu_calls("cuDNN plan compiled");
    conv_plan_destroy(conv_tuned_plan(&r));
    ck_assert_int_eq(simgpu_calls("cuDNN plan compiled"), compiled + 1);
    ck_assert_int_eq(conv_maker.cache_error.kind, ERROR_NONE);
}
END_TEST

static const enum conv_pattern checked_patterns[] = {CONV_FORWARD, CONV_FORWARD_STATS,
                                                     CONV_FORWARD_BIAS, CONV_DATA, CONV_WEIGHTS};

static void only_right(int right)
{
    for (int engine = 0; engine < 3; engine++)
        simgpu_wrong_engine(engine, engine != right);
}

/* Of the simulator's engines any may be the fastest; those that are wrong are never taken. */
START_TEST(wrong_engines_are_not_taken)
{
    struct conv_request r = conv_small_request(checked_patterns[_i / 3], TYPE_BF16, 3, 1);
    only_right(_i % 3);
    /* Engine 2 is for fused patterns only. */
    if (_i % 3 == 2 && r.pattern != CONV_FORWARD_STATS && r.pattern != CONV_FORWARD_BIAS)
        return;
    struct conv_plan *plan = conv_tuned_plan(&r);
    ck_assert_int_eq(conv_plan_name(plan)[3], '0' + _i % 3);
    ck_assert_int_eq(conv_maker.cache_error.kind, ERROR_NONE);
    conv_plan_destroy(plan);
}
END_TEST

/* Nor is a fused plan taken unseen where nothing is timed. */
START_TEST(fused_plans_are_checked_in_any_case)
{
    struct conv_request r = conv_small_request(CONV_FORWARD_BIAS, TYPE_BF16, 3, 1);
    struct conv_plan *plan;
    r.deterministic = _i;
    only_right(1);
    conv_make_tensors(&r);
    conv_must(conv_plan_create(&conv_maker, &r, &plan, &conv_err));
    ck_assert_int_eq(conv_plan_name(plan)[3], '1');
    conv_run_plan(plan);
    conv_compare(&r, CONV_Y);
    conv_plan_destroy(plan);
}
END_TEST

/* Sums that are added to what lay there, by all engines but one, or by all. */
START_TEST(engines_that_add_to_dirty_sums_are_not_taken)
{
    struct conv_request r = conv_small_request(CONV_FORWARD_STATS, TYPE_BF16, 3, 1);
    for (int engine = 0; engine < 3; engine++)
        simgpu_adding_engine(engine, engine != _i);
    if (_i < 3) {
        struct conv_plan *plan = conv_tuned_plan(&r);
        ck_assert_int_eq(conv_plan_name(plan)[3], '0' + _i);
        conv_plan_destroy(plan);
        return;
    }
    struct conv_plan *plan;
    conv_maker.autotune = true;
    conv_maker.cache_path = conv_cache;
    for (int start = 0; start < 2; start++) {
        const long built = simgpu_calls("cuDNN plan built");
        ck_assert(!conv_plan_create(&conv_maker, &r, &plan, &conv_err));
        /* The second start knows. */
        ck_assert_int_eq(simgpu_calls("cuDNN plan built") > built, start == 0);
    }
    ck_assert(isinf(conv_search_remembered(&conv_maker, &r)));
}
END_TEST

/* A convolution as such must be had, whatever the check says. */
START_TEST(a_plain_convolution_is_never_refused)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    simgpu_wrong_engine(0, true);
    simgpu_wrong_engine(1, true);
    struct conv_plan *plan = conv_tuned_plan(&r);
    ck_assert(isnan(conv_plan_seconds(plan)));
    ck_assert_ptr_nonnull(
        strstr(conv_maker.cache_error.text, "was seen to compute conv 3x3/1 8x7x6 -> 16"));
    ck_assert_ptr_nonnull(strstr(conv_maker.cache_error.text, "(last: y[0] is "));
    ck_assert_int_ne(access(conv_cache, F_OK), 0);
    conv_plan_destroy(plan);
}
END_TEST

/* Of two engines one is wrong, and the other would keep the pass from being captured: it is not
 * timed, and only taken because there is no third. */
START_TEST(plans_that_cannot_be_captured_are_not_timed)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    simgpu_wrong_engine(1, true);
    simgpu_fail_call("cudaGraphInstantiate", 1, cudaErrorStreamCaptureUnsupported);
    struct conv_plan *plan = conv_tuned_plan(&r);
    ck_assert_int_eq(simgpu_calls("cudaGraphInstantiate"), 1);
    ck_assert(isnan(conv_plan_seconds(plan)));
    conv_plan_destroy(plan);
}
END_TEST

/* Kernels of engine 2 that heuristics do not offer are tried, its default not twice. */
START_TEST(more_kernels_of_a_compiled_engine_are_tried)
{
    struct conv_request r = compiled_request();
    conv_plan_destroy(conv_tuned_plan(&r));
    /* 10, 8, 43, 44; fewer where two were far behind. */
    ck_assert_int_ge(simgpu_calls("cuDNN plan compiled"), 2);
    ck_assert_int_le(simgpu_calls("cuDNN plan compiled"), 4);
}
END_TEST

/* Without time to compile ready engines do; what was narrowed so is made up for by a later start.
 */
START_TEST(compiling_has_its_limit)
{
    struct conv_request r = conv_small_request(CONV_FORWARD_STATS, TYPE_BF16, 3, 1);
    double left = 0;
    conv_maker.compile_left = &left;
    conv_plan_destroy(conv_tuned_plan(&r));
    ck_assert_int_eq(simgpu_calls("cuDNN plan compiled"), 0);
    ck_assert(isnan(conv_search_remembered(&conv_maker, &r)));
    left = 100;
    conv_plan_destroy(conv_tuned_plan(&r));
    ck_assert_int_gt(simgpu_calls("cuDNN plan compiled"), 0);
    ck_assert(left < 100);
    ck_assert(conv_search_remembered(&conv_maker, &r) > 0);
    /* Where there are compiled engines only, a fused pattern waits for that start, too. */
    struct conv_plan *plan;
    r = compiled_request();
    r.rows++;
    left = 0;
    ck_assert(!conv_plan_create(&conv_maker, &r, &plan, &conv_err));
    ck_assert_ptr_nonnull(strstr(conv_err.text, "time for compiling"));
}
END_TEST

/* TF32 rounds factors to ten bits, f32 not at all; neither may become bf16 or half floats. */
START_TEST(factors_are_not_converted)
{
    static const enum number_type types[] = {TYPE_F32, TYPE_TF32, TYPE_BF16};
    struct conv_request r = conv_small_request(CONV_FORWARD, types[_i], 3, 1);
    struct conv_plan *plan;
    simgpu_narrow_engine(0, true);
    conv_must(conv_plan_create(&conv_maker, &r, &plan, &conv_err));
    ck_assert_int_eq(conv_plan_name(plan)[3], types[_i] == TYPE_BF16 ? '0' : '1');
    conv_plan_destroy(plan);
}
END_TEST

START_TEST(failures_are_kept_in_the_table)
{
    struct conv_table *table = conv_table_create(&conv_err);
    struct conv_request r = conv_small_request(CONV_DATA, TYPE_BF16, 3, 1);
    const struct conv_plan *plan;
    simgpu_refuse_engine(0, true);
    simgpu_refuse_engine(1, true);
    ck_assert(!conv_table_take(table, &conv_maker, &r, &plan, &conv_err));
    const long calls = simgpu_calls("cudnnBackendFinalize");
    ck_assert(!conv_table_take(table, &conv_maker, &r, &plan, &conv_err));
    ck_assert_ptr_nonnull(strstr(conv_err.text, "cuDNN cannot compute"));
    ck_assert_int_eq(simgpu_calls("cudnnBackendFinalize"), calls);
    conv_table_destroy(table);
}
END_TEST

/* Rows that change with the shares: old plans go, those in use stay. */
START_TEST(the_table_stays_small)
{
    struct conv_table *table = conv_table_create(&conv_err);
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 1, 1);
    const struct conv_plan *kept, *plan;
    conv_must(conv_table_take(table, &conv_maker, &r, &kept, &conv_err));
    const int before = simgpu_live_objects();
    int most = 0;
    for (int i = 0; i < 2 * CONV_TABLE_PLANS; i++) {
        r.rows++;
        conv_must(conv_table_take(table, &conv_maker, &r, &plan, &conv_err));
        conv_table_give(table, plan);
        most = i == CONV_TABLE_PLANS ? simgpu_live_objects() : most;
    }
    ck_assert_int_gt(most, before);
    ck_assert_int_le(simgpu_live_objects(), most);
    r.rows = 2;
    conv_must(conv_table_take(table, &conv_maker, &r, &plan, &conv_err));
    ck_assert_ptr_eq(plan, kept);
    conv_table_destroy(table);
}
END_TEST

TCase *conv_faults_case(void)
{
    TCase *tcase = tcase_create("conv_faults");
    tcase_add_checked_fixture(tcase, conv_setup, conv_teardown);
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, too_little_memory_for_tuning_is_no_error);
    tcase_add_test(tcase, a_device_that_breaks_while_tuning_is_an_error);
    tcase_add_test(tcase, candidates_that_fail_are_left_out);
    tcase_add_loop_test(tcase, damaged_plans_are_compiled_anew, 0, 4);
    tcase_add_test(tcase, plans_that_cudnn_refuses_are_compiled_anew);
    tcase_add_loop_test(tcase, wrong_engines_are_not_taken, 0, 15);
    tcase_add_loop_test(tcase, fused_plans_are_checked_in_any_case, 0, 2);
    tcase_add_loop_test(tcase, engines_that_add_to_dirty_sums_are_not_taken, 0, 4);
    tcase_add_test(tcase, a_plain_convolution_is_never_refused);
    tcase_add_test(tcase, plans_that_cannot_be_captured_are_not_timed);
    tcase_add_test(tcase, more_kernels_of_a_compiled_engine_are_tried);
    tcase_add_test(tcase, compiling_has_its_limit);
    tcase_add_loop_test(tcase, factors_are_not_converted, 0, 3);
    tcase_add_test(tcase, failures_are_kept_in_the_table);
    tcase_add_test(tcase, the_table_stays_small);
    return tcase;
}
#endif

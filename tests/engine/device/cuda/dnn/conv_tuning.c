/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/device/cuda/dnn/conv/bench.h"
#include "engine/device/cuda/dnn/conv/reference.h"
#include "engine/device/cuda/dnn/conv/table.h"
#include "tests/engine/device/cuda/dnn/conv_fixture.h"
#include "tests/support.h"
#ifndef DPARTUI_REAL_GPU
#include "tests/simgpu/simgpu.h"
#endif

/* How plans of convolutions are chosen, kept and shared; linked into test_conv_sim. */

static const enum number_type bench_types[] = {TYPE_F32, TYPE_BF16};

/* What lies on the device, copies of the pattern too, is what checks take it for. */
START_TEST(checks_know_the_numbers)
{
    struct conv_request r = conv_small_request(CONV_WEIGHTS, bench_types[_i], 3, 1);
    struct conv_bench bench;
    bool short_of_memory = false;
    r.rows = (int)(2 * CONV_BENCH_NUMBERS / (size_t)(r.in * r.in_h * r.in_w));
    conv_must(conv_bench_open(&bench, &conv_maker, &r, &short_of_memory, &conv_err));
    const size_t count = conv_role_count(&r, CONV_X), bytes = conv_role_bytes(&r, CONV_X);
    char *stored = malloc(bytes);
    ck_assert_ptr_nonnull(stored);
    ck_assert_int_eq(cudaMemcpy(stored, bench.pointers[0][CONV_X], bytes, cudaMemcpyDeviceToHost),
                     cudaSuccess);
    for (size_t i = 0; i < count; i++) {
        const float known = bench.numbers[CONV_X][i % CONV_BENCH_NUMBERS];
        uint32_t bits;
        memcpy(&bits, &known, sizeof bits);
        if (r.type == TYPE_BF16)
            ck_assert_uint_eq((uint32_t)((uint16_t *)stored)[i] << 16, bits);
        else
            ck_assert_uint_eq(((uint32_t *)stored)[i], bits);
    }
    free(stored);
    conv_bench_close(&bench);
}
END_TEST

START_TEST(tuned_choices_are_remembered)
{
    struct conv_request r = conv_small_request(CONV_WEIGHTS, TYPE_BF16, 3, 1);
    struct conv_plan *first = conv_tuned_plan(&r);
    ck_assert(conv_plan_seconds(first) >= 0);
    ck_assert_int_eq(conv_maker.cache_error.kind, ERROR_NONE);
    char *before = conv_read_cache();
    ck_assert_ptr_nonnull(before);
    ck_assert_ptr_nonnull(
        strstr(before, "\ttest\tconv 3x3/1 8x7x6 -> 16, 2 rows, bf16, weights\t"));
    struct conv_plan *second = conv_tuned_plan(&r);
    ck_assert_str_eq(conv_plan_name(second), conv_plan_name(first));
    ck_assert_uint_eq(conv_plan_workspace(second), conv_plan_workspace(first));
    /* Nothing was timed again: the file is as it was. */
    char *after = conv_read_cache();
    ck_assert_str_eq(after, before);
    /* What was remembered computes. */
    conv_make_tensors(&r);
    conv_run_plan(second);
    conv_compare(&r, CONV_W);
    free(before);
    free(after);
    conv_plan_destroy(first);
    conv_plan_destroy(second);
}
END_TEST

START_TEST(a_choice_that_cannot_be_built_is_found_anew)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    conv_plan_destroy(conv_tuned_plan(&r));
    char *text = conv_read_cache(), *engine = strstr(text, "forward\t");
    ck_assert_ptr_nonnull(engine);
    engine += strlen("forward\t");
    char *changed = format("%.*s9999%s", (int)(engine - text), text, strchr(engine, '\t'));
    put_file(conv_folder, "choices", changed, strlen(changed));
    conv_plan_destroy(conv_tuned_plan(&r));
    char *after = conv_read_cache();
    ck_assert_ptr_null(strstr(after, "9999"));
    ck_assert_ptr_nonnull(strstr(after, "forward\t"));
    free(after);
    free(changed);
    free(text);
}
END_TEST

START_TEST(deterministic_plans_are_not_timed)
{
    struct conv_request r = conv_small_request(CONV_WEIGHTS, TYPE_BF16, 3, 1);
    r.deterministic = true;
    struct conv_plan *plan = conv_tuned_plan(&r);
    ck_assert(isnan(conv_plan_seconds(plan)));
    ck_assert_int_ne(access(conv_cache, F_OK), 0);
    conv_plan_destroy(plan);
}
END_TEST

START_TEST(a_cache_that_cannot_be_written_is_told_and_no_more)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_BF16, 3, 1);
    ck_assert_int_eq(mkdir(conv_cache, 0700), 0);
    struct conv_plan *plan = conv_tuned_plan(&r);
    ck_assert_int_eq(conv_maker.cache_error.kind, ERROR_FAILED);
    conv_plan_destroy(plan);
}
END_TEST

/* Equal requests have one plan, others another; a plan is given back as often as it is taken. */
START_TEST(plans_are_shared)
{
    struct conv_table *table = conv_table_create(&conv_err);
    struct conv_request r = conv_small_request(CONV_DATA, TYPE_BF16, 3, 1);
    const struct conv_plan *first, *second, *other;
    conv_must(table != NULL);
    conv_must(conv_table_take(table, &conv_maker, &r, &first, &conv_err));
    conv_must(conv_table_take(table, &conv_maker, &r, &second, &conv_err));
    ck_assert(first == second);
    r.rows++;
    conv_must(conv_table_take(table, &conv_maker, &r, &other, &conv_err));
    ck_assert(first != other);
    conv_table_give(table, first);
    conv_make_tensors(&r);
    conv_run_plan(other);
    conv_compare(&r, CONV_X);
    conv_table_give(table, second);
    conv_table_give(table, other);
    conv_table_destroy(table);
}
END_TEST

/* A compiled plan is read back by the next start, and computes. */
START_TEST(compiled_plans_are_kept)
{
    struct conv_request r = conv_small_request(CONV_FORWARD_STATS, TYPE_BF16, 3, 1);
#ifndef DPARTUI_REAL_GPU
    simgpu_refuse_engine(0, true);
    simgpu_refuse_engine(1, true);
#else
    r.in = r.out = 64;
#endif
    conv_plan_destroy(conv_tuned_plan(&r));
    ck_assert_int_eq(conv_maker.cache_error.kind, ERROR_NONE);
#ifndef DPARTUI_REAL_GPU
    const long compiled = simgpu_calls("cuDNN plan compiled");
    ck_assert_int_gt(compiled, 0);
#endif
    struct conv_plan *again = conv_tuned_plan(&r);
#ifndef DPARTUI_REAL_GPU
    ck_assert_int_eq(simgpu_calls("cuDNN plan compiled"), compiled);
    ck_assert_int_eq(simgpu_calls("cuDNN plan loaded"), 1);
#endif
    conv_make_tensors(&r);
    conv_run_plan(again);
    conv_run_plan(again); /* on its own sums */
    conv_compare(&r, CONV_Y);
    conv_compare(&r, CONV_SUMS);
    conv_compare(&r, CONV_SQUARES);
    conv_plan_destroy(again);
}
END_TEST

TCase *conv_tuning_case(void)
{
    TCase *tcase = tcase_create("conv_tuning");
    tcase_add_checked_fixture(tcase, conv_setup, conv_teardown);
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, checks_know_the_numbers, 0, 2);
    tcase_add_test(tcase, tuned_choices_are_remembered);
    tcase_add_test(tcase, a_choice_that_cannot_be_built_is_found_anew);
    tcase_add_test(tcase, deterministic_plans_are_not_timed);
    tcase_add_test(tcase, a_cache_that_cannot_be_written_is_told_and_no_more);
    tcase_add_test(tcase, plans_are_shared);
    tcase_add_test(tcase, compiled_plans_are_kept);
    return tcase;
}

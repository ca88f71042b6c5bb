/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "tests/engine/device/cuda/dnn/conv_fixture.h"
#include "tests/suites.h"

/*
 * Convolutions run and compared with plain loops in f64: by default on the simulated GPU; linked
 * with the real libraries (tests/gpu) on a GPU. cuDNN does not fuse every small convolution in
 * every type, but in bf16, with shapes like those of networks, the fusions that the backend wants
 * must be there.
 */
/* Make, run, compare. False: a fused pattern that this cuDNN does not take. */
static bool check_request(const struct conv_request *r)
{
    struct conv_plan *plan;
    conv_make_tensors(r);
    bool fused = r->pattern == CONV_FORWARD_STATS || r->pattern == CONV_FORWARD_BIAS;
    bool made = conv_plan_create(&conv_maker, r, &plan, &conv_err);
    if (!made && fused)
        return false;
    conv_must(made);
    conv_run_plan(plan);
    for (int role = CONV_X; role < CONV_ROLES; role++)
        if (conv_role_used(r, role) && conv_role_written(r, role))
            conv_compare(r, role);
    conv_plan_destroy(plan);
    return true;
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
                    conv_small_request((enum conv_pattern)_i, types[type], kernel, stride);
                checked += check_request(&r);
            }
    ck_assert_int_gt(checked, 0);
}
END_TEST

START_TEST(unequal_sides_and_no_padding)
{
    static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_DATA, CONV_WEIGHTS};
    for (int i = 0; i < 3; i++) {
        struct conv_request r = conv_small_request(patterns[i], TYPE_F32, 3, 1);
        r.kernel_w = 1;
        r.stride_h = 2;
        r.pad_h = r.pad_w = 0;
        r.out_h = 3;
        r.out_w = r.in_w;
        ck_assert(check_request(&r));
    }
}
END_TEST

START_TEST(windows_read_numbers_apart)
{
    static const enum conv_pattern patterns[] = {CONV_FORWARD, CONV_DATA, CONV_WEIGHTS};
    for (int i = 0; i < 3; i++) {
        struct conv_request r = conv_small_request(patterns[i], TYPE_F32, 3, 1);
        r.dilation_h = r.pad_h = 2;
        r.stride_w = 2;
        r.dilation_w = 3;
        r.in_w = 9;
        r.out_w = (r.in_w + 2 * r.pad_w - 7) / 2 + 1;
        ck_assert_msg(check_request(&r), "%s", conv_err.text);
    }
}
END_TEST

START_TEST(bias_with_and_without_relu)
{
    struct conv_request r = conv_small_request(CONV_FORWARD_BIAS, TYPE_BF16, 3, 1);
    r.relu = _i;
    ck_assert_msg(check_request(&r), "%s", conv_err.text);
}
END_TEST

START_TEST(a_run_without_a_tensor_is_refused)
{
    struct conv_request r = conv_small_request(CONV_FORWARD, TYPE_F32, 1, 1);
    struct conv_plan *plan;
    struct conv_tensors tensors = {.x = NULL};
    conv_must(conv_plan_create(&conv_maker, &r, &plan, &conv_err));
    ck_assert(!conv_plan_run(plan, conv_maker.handle, &tensors, NULL, &conv_err));
    ck_assert_ptr_nonnull(strstr(conv_err.text, "without x"));
    conv_plan_destroy(plan);
}
END_TEST

#ifndef DPARTUI_REAL_GPU
#define ROWS  2
#define WIDTH 16
#else
#define ROWS  256
#define WIDTH 64
#endif

/* Layers of ResNet-18 (the simulated ones are narrower): the stem as a product, an ordinary one,
 * one that halves the picture, a shortcut. Results are compared whole on the simulated GPU only,
 * where the tensors are small; the autotuner checks them in both cases, twice on dirty memory. */
START_TEST(fusions_of_a_network_are_offered)
{
    static const struct {
        int in, out, size, kernel, stride;
    } layers[] = {{16, WIDTH, 28, 1, 1},
                  {WIDTH, WIDTH, 14, 3, 1},
                  {WIDTH, 2 * WIDTH, 14, 3, 2},
                  {WIDTH, 2 * WIDTH, 14, 1, 2}};
    static const enum conv_pattern patterns[] = {CONV_FORWARD_STATS, CONV_FORWARD_BIAS};
    for (int p = 0; p < 2; p++) {
        struct conv_request r =
            conv_small_request(patterns[p], TYPE_BF16, layers[_i].kernel, layers[_i].stride);
        r.rows = ROWS;
        r.in = layers[_i].in;
        r.out = layers[_i].out;
        r.in_h = r.in_w = layers[_i].size;
        r.out_h = r.out_w = (r.in_h + 2 * r.pad_h - r.kernel_h) / r.stride_h + 1;
        r.relu = patterns[p] == CONV_FORWARD_BIAS;
        struct conv_plan *plan = conv_tuned_plan(&r);
        /* It was timed, so it runs in a CUDA graph, and agrees. */
        ck_assert(conv_plan_seconds(plan) >= 0);
        conv_plan_destroy(plan);
#ifndef DPARTUI_REAL_GPU
        ck_assert(check_request(&r));
#endif
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conv_sim");
    TCase *tcase = tcase_create("conv_sim");
    tcase_add_checked_fixture(tcase, conv_setup, conv_teardown);
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, results_agree_with_plain_loops, 0, CONV_PATTERNS);
    tcase_add_test(tcase, unequal_sides_and_no_padding);
    tcase_add_test(tcase, windows_read_numbers_apart);
    tcase_add_loop_test(tcase, bias_with_and_without_relu, 0, 2);
    tcase_add_test(tcase, a_run_without_a_tensor_is_refused);
    tcase_add_loop_test(tcase, fusions_of_a_network_are_offered, 0, 4);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, conv_tuning_case());
#ifndef DPARTUI_REAL_GPU
    suite_add_tcase(suite, conv_faults_case());
#endif
    return run_suites(suite, NULL);
}

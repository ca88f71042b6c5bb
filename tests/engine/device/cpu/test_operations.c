/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dnnl.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Every operation of the CPU backend; for each team size and each layout of values. */

static void check_modes(int net, int rows, int threads)
{
    const struct trial_device device = trial_cpu(threads);
    conform_net(&device, net, rows);
}

START_TEST(passes_agree_with_the_reference)
{
    static const int rows[] = {1, 2, 17};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_modes(_i, rows[i], 2);
    check_modes(_i, 5, 1);
    check_modes(_i, 5, 3);
}
END_TEST

/* The layouts of lesser processors: blocks of 8, and plain. */
START_TEST(passes_agree_with_avx2)
{
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) == dnnl_success)
        check_modes(_i, 5, 2);
}
END_TEST

START_TEST(passes_agree_without_vectors)
{
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41) == dnnl_success)
        check_modes(_i, 5, 2);
}
END_TEST

/* Channel blocks so large that all threads work on one together: of 16 channels, more than 131072
 * pixels. With its statistics from its values and from a convolution, with a residual, without. */
START_TEST(large_channel_blocks_agree)
{
    static const int threads[] = {1, 2, 3};
    struct trial trial;
    struct outcome got, expected;
    trial_make(&trial,
               "\"batchnorm\", { type = \"conv\"; channels = 3; kernel = 1; }, \"batchnorm\", "
               "\"relu\", { type = \"residual\"; layers = ({ type = \"conv\"; channels = 3; "
               "kernel = 1; }, \"batchnorm\"); after = (\"relu\"); }, \"global_avgpool\", "
               "{ type = \"linear\"; outputs = 2; }",
               (struct net_shape){2, 64, 64}, 2, 33, false, 1);
    trial_reference(&trial, PLAN_TRAIN, &expected);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        const struct trial_device device = trial_cpu(threads[i]);
        trial_run(&trial, &device, PLAN_TRAIN, &got);
        outcome_compare(&trial, &got, &expected, PLAN_TRAIN, 1e-4, "large blocks");
        outcome_free(&got);
    }
    outcome_free(&expected);
    trial_free(&trial);
}
END_TEST

START_TEST(gradients_are_slopes)
{
    const struct trial_device device = trial_cpu(2);
    conform_slopes(&device, _i);
}
END_TEST

START_TEST(predictions_are_the_largest_logits)
{
    const struct trial_device device = trial_cpu(2), by_layers = trial_cpu_by_layers(2);
    conform_predictions(&device, _i);
    conform_predictions(&by_layers, _i);
}
END_TEST

START_TEST(labels_are_smoothed)
{
    const struct trial_device device = trial_cpu(2), by_layers = trial_cpu_by_layers(2);
    conform_smoothing(&device, _i);
    conform_smoothing(&by_layers, _i);
}
END_TEST

START_TEST(cases_cover_all_operations)
{
    conform_covers_operations();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu operations");
    TCase *tc = tcase_create("operations");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, passes_agree_with_the_reference, 0, conformance_nets);
    tcase_add_loop_test(tc, passes_agree_with_avx2, 0, conformance_nets);
    tcase_add_loop_test(tc, passes_agree_without_vectors, 0, conformance_nets);
    tcase_add_test(tc, large_channel_blocks_agree);
    tcase_add_loop_test(tc, gradients_are_slopes, 0, conformance_nets);
    tcase_add_loop_test(tc, predictions_are_the_largest_logits, 0, conformance_nets);
    tcase_add_loop_test(tc, labels_are_smoothed, 0, 3);
    tcase_add_test(tc, cases_cover_all_operations);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

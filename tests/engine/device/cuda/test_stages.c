/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "tests/engine/device/cuda/cuda_fixture.h"
#include "tests/reference/conformance.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

/* Stages of a network on simulated GPUs: what a pipeline is made of. */

START_TEST(stages_of_small_networks_equal_the_whole)
{
    const struct trial_device device = exact_gpu();
    conform_stages(&device, _i);
}
END_TEST

/* Of every third network: the steps are those of the other. Deterministic, so that plans do not
 * choose algorithms by their times, which round otherwise. */
START_TEST(so_do_those_of_rounded_numbers)
{
    struct trial_device device = exact_gpu();
    device.options.type = TYPE_BF16;
    conform_stages(&device, 3 * _i);
}
END_TEST

START_TEST(gradients_are_slopes_through_the_cuts)
{
    const struct trial_device device = exact_gpu();
    conform_stage_slopes(&device, 3 * _i + 1);
}
END_TEST

static const char *const models[] = {"linear", "lenet", "smallnet"};

enum { MODELS = sizeof models / sizeof *models };

START_TEST(stages_of_models_equal_the_whole)
{
    const struct trial_device device = exact_gpu();
    conform_model_stages(&device, models[_i], (struct net_shape){0, 0, 0});
}
END_TEST

START_TEST(evaluation_by_stages_is_one)
{
    const struct trial_device device = exact_gpu();
    conform_evaluation_stages(&device, "lenet", (struct net_shape){0, 0, 0});
}
END_TEST

static void start(void)
{
    cuda_start();
    simgpu_short_autotune();
}

int main(void)
{
    Suite *suite = suite_create("cuda stages");
    TCase *tc = tcase_create("stages");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, start, cuda_finish);
    add_many(tc, stages_of_small_networks_equal_the_whole, conformance_nets);
    tcase_add_loop_test(tc, so_do_those_of_rounded_numbers, 0, (conformance_nets + 2) / 3);
    tcase_add_loop_test(tc, gradients_are_slopes_through_the_cuts, 0, conformance_nets / 3);
    tcase_add_loop_test(tc, stages_of_models_equal_the_whole, 0, MODELS);
    tcase_add_test(tc, evaluation_by_stages_is_one);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Stages of a network on CPU devices: what a pipeline is made of. */

START_TEST(stages_of_small_networks_equal_the_whole)
{
    const struct trial_device device = trial_cpu_by_layers(2);
    conform_stages(&device, _i);
}
END_TEST

START_TEST(own_kernels_do_too)
{
    const struct trial_device device = trial_cpu_by_own_kernels(2);
    conform_stages(&device, _i);
}
END_TEST

/* In bf16 all numbers are rounded as in the whole network. */
static struct trial_device bf16(struct trial_device device)
{
    ck_assert_int_eq(setenv("DPARTUI_EMULATE_BF16", "1", 1), 0);
    device.options.type = TYPE_BF16;
    return device;
}

START_TEST(stages_in_bf16_equal_the_whole)
{
    const struct trial_device device = bf16(trial_cpu_by_layers(2)),
                              own = bf16(trial_cpu_by_own_kernels(2));
    conform_stages(&device, _i);
    conform_stages(&own, _i);
}
END_TEST

START_TEST(gradients_are_slopes_through_the_cuts)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    conform_stage_slopes(&device, _i);
}
END_TEST

static const struct {
    const char *model;
    struct net_shape input;
} models[] = {
    {"linear", {0, 0, 0}}, {"lenet", {0, 0, 0}}, {"smallnet", {0, 0, 0}}, {"resnet18", {1, 5, 5}}};

enum { MODELS = sizeof models / sizeof *models };

START_TEST(stages_of_models_equal_the_whole)
{
    const struct trial_device device = trial_cpu_by_layers(2);
    conform_model_stages(&device, models[_i].model, models[_i].input);
}
END_TEST

START_TEST(stages_of_models_in_bf16_equal_the_whole)
{
    const struct trial_device device = bf16(trial_cpu_by_own_kernels(2));
    conform_model_stages(&device, "resnet18", (struct net_shape){1, 5, 5});
}
END_TEST

START_TEST(evaluation_by_stages_is_one)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    conform_evaluation_stages(&device, "resnet18", (struct net_shape){1, 5, 5});
    conform_evaluation_stages(&device, "lenet", (struct net_shape){0, 0, 0});
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu stages");
    TCase *tc = tcase_create("stages");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, stages_of_small_networks_equal_the_whole, 0, conformance_nets);
    tcase_add_loop_test(tc, own_kernels_do_too, 0, conformance_nets);
    add_many(tc, stages_in_bf16_equal_the_whole, conformance_nets);
    tcase_add_loop_test(tc, gradients_are_slopes_through_the_cuts, 0, conformance_nets);
    tcase_add_loop_test(tc, stages_of_models_equal_the_whole, 0, MODELS);
    tcase_add_test(tc, stages_of_models_in_bf16_equal_the_whole);
    tcase_add_test(tc, evaluation_by_stages_is_one);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Networks divided inside their layers over CPU devices: what tensor parallelism is made of. */

START_TEST(slices_of_small_networks_equal_the_whole)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    int divided = 0;
    for (int net = 0; net < conformance_nets; net++)
        divided += conform_slices(&device, net, 2 + _i);
    /* Of the others a layer reads what is not divided, or its groups would be cut. */
    ck_assert_int_gt(divided, conformance_nets / 3);
}
END_TEST

START_TEST(own_kernels_do_too)
{
    const struct trial_device device = trial_cpu_by_own_kernels(2);
    int divided = 0;
    for (int net = 0; net < conformance_nets; net++)
        divided += conform_slices(&device, net, 2);
    ck_assert_int_gt(divided, conformance_nets / 3);
}
END_TEST

static const struct {
    const char *model;
    struct net_shape input;
    int most; /* slices */
    double tolerance;
} models[] = {{"linear", {0, 0, 0}, 2, 1e-5},          {"lenet", {0, 0, 0}, 4, 1e-5},
              {"smallnet", {0, 0, 0}, 4, 5e-3},        {"cifar-cnn", {0, 0, 0}, 4, 5e-3},
              {"mobilenet-small", {0, 0, 0}, 4, 5e-3}, {"resnet18", {1, 5, 5}, 4, 5e-2}};

enum { MODELS = sizeof models / sizeof *models };

START_TEST(slices_of_models_equal_the_whole)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    conform_model_slices(&device, models[_i].model, models[_i].input, models[_i].most,
                         models[_i].tolerance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu slices");
    TCase *tc = tcase_create("slices");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, slices_of_small_networks_equal_the_whole, 0, 3);
    tcase_add_test(tc, own_kernels_do_too);
    tcase_add_loop_test(tc, slices_of_models_equal_the_whole, 0, MODELS);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

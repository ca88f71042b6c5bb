/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Networks divided inside their layers over CPU devices: what tensor and mixed parallelism are made
 * of. */

/* How many of the small networks can be divided; of the others a layer reads what is not divided,
 * its groups would be cut, or they have no linear layer. */
static int count_divided(const struct trial_device *device, enum net_division division, int count)
{
    int divided = 0;
    for (int net = 0; net < conformance_nets; net++)
        divided += conform_slices(device, division, net, count);
    return divided;
}

START_TEST(slices_of_small_networks_equal_the_whole)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    ck_assert_int_gt(count_divided(&device, NET_DIVIDE_LAYERS, 2 + _i), conformance_nets / 3);
    ck_assert_int_ge(count_divided(&device, NET_DIVIDE_LINEAR, 2 + _i), conformance_nets / 3);
}
END_TEST

START_TEST(own_kernels_do_too)
{
    const struct trial_device device = trial_cpu_by_own_kernels(2);
    ck_assert_int_gt(count_divided(&device, NET_DIVIDE_LAYERS, 2), conformance_nets / 3);
    ck_assert_int_gt(count_divided(&device, NET_DIVIDE_LINEAR, 2), conformance_nets / 3);
}
END_TEST

START_TEST(gradients_are_slopes)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    int found = 0;
    for (int net = 0; net < conformance_nets; net++)
        found += conform_slice_slopes(&device, (enum net_division)_i, net, 2 + net % 3);
    ck_assert_int_ge(found, conformance_nets / 3);
}
END_TEST

static const struct {
    const char *model;
    enum net_division division;
    struct net_shape input;
    int most; /* slices */
    double tolerance;
} models[] = {{"linear", NET_DIVIDE_LAYERS, {0, 0, 0}, 2, 1e-5},
              {"lenet", NET_DIVIDE_LAYERS, {0, 0, 0}, 4, 1e-5},
              {"smallnet", NET_DIVIDE_LAYERS, {0, 0, 0}, 3, 5e-3},
              {"cifar-cnn", NET_DIVIDE_LAYERS, {0, 0, 0}, 3, 5e-3},
              {"mobilenet-small", NET_DIVIDE_LAYERS, {0, 0, 0}, 3, 5e-3},
              {"resnet18", NET_DIVIDE_LAYERS, {1, 5, 5}, 3, 5e-2},
              {"lenet", NET_DIVIDE_LINEAR, {0, 0, 0}, 4, 1e-5},
              {"smallnet", NET_DIVIDE_LINEAR, {0, 0, 0}, 3, 5e-3},
              {"cifar-cnn", NET_DIVIDE_LINEAR, {0, 0, 0}, 3, 5e-3}};

enum { MODELS = sizeof models / sizeof *models };

START_TEST(slices_of_models_equal_the_whole)
{
    const struct trial_device device = trial_cpu_by_layers(1);
    conform_model_slices(&device, models[_i].division, models[_i].model, models[_i].input,
                         models[_i].most, models[_i].tolerance);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu slices");
    TCase *tc = tcase_create("slices");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, slices_of_small_networks_equal_the_whole, 0, 3);
    tcase_add_test(tc, own_kernels_do_too);
    tcase_add_loop_test(tc, gradients_are_slopes, NET_DIVIDE_LAYERS, NET_DIVIDE_LINEAR + 1);
    tcase_add_loop_test(tc, slices_of_models_equal_the_whole, 0, MODELS);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

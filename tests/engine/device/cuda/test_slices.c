/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "tests/engine/device/cuda/cuda_fixture.h"
#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Networks divided inside their layers over devices on a simulated GPU: what tensor and mixed
 * parallelism are made of. */

/* Of the others a layer reads what is not divided, its groups would be cut, or they have no linear
 * layer. */
static void expect_many(int divided, int tried)
{
    ck_assert_int_ge(divided, tried / 3);
}

START_TEST(slices_of_small_networks_equal_the_whole)
{
    const struct trial_device device = exact_gpu();
    int divided = 0;
    for (int net = 0; net < conformance_nets; net += MANY_STEP)
        divided += conform_slices(&device, (enum net_division)_i, net, 2 + net % 3);
    expect_many(divided, conformance_nets / MANY_STEP);
}
END_TEST

START_TEST(gradients_are_slopes_through_gathers)
{
    const struct trial_device device = exact_gpu();
    int divided = 0;
    for (int net = _i; net < conformance_nets; net += 3 + MANY_STEP)
        divided += conform_slice_slopes(&device, (enum net_division)_i, net, 3 - net % 2);
    expect_many(divided, conformance_nets / (3 + MANY_STEP));
}
END_TEST

static const char *const models[] = {"lenet", "smallnet"};

enum { MODELS = sizeof models / sizeof *models, DIVISIONS = NET_DIVIDE_LINEAR + 1 };

START_TEST(slices_of_models_equal_the_whole)
{
    const struct trial_device device = exact_gpu();
    conform_model_slices(&device, (enum net_division)(_i % DIVISIONS), models[_i / DIVISIONS],
                         (struct net_shape){0, 0, 0}, 3, 5e-4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda slices");
    TCase *tc = tcase_create("slices");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, cuda_start, cuda_finish);
    tcase_add_loop_test(tc, slices_of_small_networks_equal_the_whole, 0, DIVISIONS);
    tcase_add_loop_test(tc, gradients_are_slopes_through_gathers, 0, DIVISIONS);
    tcase_add_loop_test(tc, slices_of_models_equal_the_whole, 0, DIVISIONS * MODELS);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"

/* Whole networks on the CPU backend: shipped models, several devices, plans side by side. */

START_TEST(shipped_models_agree_with_the_reference)
{
    const struct trial_device device = trial_cpu(2);
    conform_model(&device, _i);
}
END_TEST

START_TEST(synchronised_devices_equal_one)
{
    const struct trial_device devices[] = {trial_cpu(1), trial_cpu(2)};
    conform_synchronised(devices, _i);
}
END_TEST

START_TEST(shards_add_up)
{
    const struct trial_device devices[] = {trial_cpu(1), trial_cpu(2)};
    conform_shards(devices, _i);
}
END_TEST

START_TEST(no_rows_leave_no_trace)
{
    const struct trial_device device = trial_cpu(2);
    conform_no_rows(&device);
}
END_TEST

START_TEST(plans_live_side_by_side)
{
    const struct trial_device device = trial_cpu(2);
    conform_side_by_side(&device);
}
END_TEST

START_TEST(weights_survive_the_arenas)
{
    const struct trial_device device = trial_cpu(2);
    conform_arenas(&device);
}
END_TEST

START_TEST(mistakes_are_named)
{
    const struct trial_device device = trial_cpu(2);
    conform_mistakes(&device);
}
END_TEST

START_TEST(update_is_pytorchs)
{
    const struct trial_device device = trial_cpu(2);
    conform_update(&device);
    conform_no_decay(&device);
    conform_average(&device);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu networks");
    TCase *tc = tcase_create("networks");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, shipped_models_agree_with_the_reference, 0, conformance_models);
    tcase_add_loop_test(tc, synchronised_devices_equal_one, 0, conformance_splits);
    tcase_add_loop_test(tc, shards_add_up, 0, conformance_splits);
    tcase_add_test(tc, no_rows_leave_no_trace);
    tcase_add_test(tc, plans_live_side_by_side);
    tcase_add_test(tc, weights_survive_the_arenas);
    tcase_add_test(tc, mistakes_are_named);
    tcase_add_test(tc, update_is_pytorchs);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <check.h>

#include "tests/engine/device/cuda/cuda_fixture.h"
#include "tests/reference/conformance.h"
#include "tests/simgpu/simgpu.h"
#include "tests/suites.h"

/* The CUDA backend on a simulated GPU: the cases that all backends are held to. */

static const enum number_type types[] = {TYPE_F32, TYPE_TF32, TYPE_BF16};
#define TYPES 3

/* What their numbers are rounded to. */
static const double units[] = {0, 0x1p-11, 0x1p-8};

/* TF32 has the plans of f32, and only the library rounds otherwise. So results in it are compared
 * for small networks and models alone, and not with sanitizers, which check accesses to memory. */
static bool is_left_out(int type)
{
#ifdef __SANITIZE_ADDRESS__
    return types[type] == TYPE_TF32;
#else
    (void)type;
    return false;
#endif
}

static const enum number_type stored[] = {TYPE_F32, TYPE_BF16}; /* TF32 is stored as f32 */
#define STORED 2

static void check_rows(int type, int net, int rows)
{
    const struct trial_device device = gpu_of(0, types[type]);
    struct trial trial;
    if (is_left_out(type))
        return;
    if (types[type] == TYPE_F32) {
        conform_net(&device, net, rows);
        return;
    }
    conformance_net_make(&trial, net, rows);
    conform_rough(&device, &trial, units[type], "rounded");
    trial_free(&trial);
}

START_TEST(passes_agree_with_the_reference)
{
    if (types[_i % TYPES] != TYPE_TF32)
        check_rows(_i % TYPES, _i / TYPES, 1 + _i % 2);
    check_rows(_i % TYPES, _i / TYPES, 9);
}
END_TEST

START_TEST(shipped_models_agree_with_the_reference)
{
    const int type = _i % TYPES;
    const struct trial_device device = gpu_of(0, types[type]);
    struct trial trial;
    if (is_left_out(type))
        return;
    if (types[type] == TYPE_F32) {
        conform_model(&device, _i / TYPES);
        return;
    }
    conformance_model_make(&trial, _i / TYPES);
    /* By far the largest. */
    if (types[type] != TYPE_TF32 || strcmp(trial.net->name, "resnet18") != 0)
        conform_rough(&device, &trial, units[type], trial.net->name);
    trial_free(&trial);
}
END_TEST

START_TEST(synchronised_devices_equal_one)
{
    const struct trial_device devices[] = {gpu_of(0, TYPE_F32), gpu_of(1, TYPE_F32)};
    conform_synchronised(devices, _i);
}
END_TEST

START_TEST(a_gpu_and_a_cpu_equal_one)
{
    const struct trial_device devices[] = {gpu_of(0, TYPE_F32), trial_cpu(1)};
    conform_synchronised(devices, _i);
}
END_TEST

START_TEST(shards_add_up)
{
    const struct trial_device devices[] = {gpu_of(0, TYPE_F32), gpu_of(1, TYPE_F32)};
    conform_shards(devices, _i);
}
END_TEST

START_TEST(no_rows_leave_no_trace)
{
    const struct trial_device device = gpu_of(0, types[_i]);
    conform_no_rows(&device);
}
END_TEST

START_TEST(plans_live_side_by_side)
{
    struct trial_device device = gpu_of(0, types[_i]);
    device.options.deterministic = true;
    conform_side_by_side(&device);
}
END_TEST

START_TEST(weights_survive_the_arenas)
{
    const struct trial_device device = gpu_of(0, types[_i]);
    conform_arenas(&device);
}
END_TEST

START_TEST(predictions_are_the_largest_logits)
{
    const struct trial_device device = gpu_of(0, stored[_i % STORED]);
    conform_predictions(&device, _i / STORED);
}
END_TEST

START_TEST(labels_are_smoothed)
{
    const struct trial_device device = gpu_of(0, TYPE_F32);
    conform_smoothing(&device, _i);
}
END_TEST

START_TEST(mistakes_are_named)
{
    const struct trial_device device = gpu_of(0, TYPE_F32);
    conform_mistakes(&device);
}
END_TEST

START_TEST(update_is_pytorchs)
{
    const struct trial_device device = gpu_of(0, stored[_i]);
    conform_update(&device);
    conform_no_decay(&device);
    conform_average(&device);
}
END_TEST

/* What is compared here are numbers: the GPU need not be slow. */
static void start(void)
{
    cuda_start();
    simgpu_hasten(100);
    simgpu_short_autotune();
}

int main(void)
{
    Suite *suite = suite_create("cuda plans");
    TCase *tc = tcase_create("plans");
    tcase_add_checked_fixture(tc, start, cuda_finish);
    tcase_set_timeout(tc, 600); /* with sanitizers */
    add_many(tc, passes_agree_with_the_reference, conformance_nets * TYPES);
    add_many(tc, shipped_models_agree_with_the_reference, conformance_models * TYPES);
    tcase_add_loop_test(tc, synchronised_devices_equal_one, 0, conformance_splits);
    tcase_add_loop_test(tc, a_gpu_and_a_cpu_equal_one, 0, conformance_splits);
    tcase_add_loop_test(tc, shards_add_up, 0, conformance_splits);
    tcase_add_loop_test(tc, no_rows_leave_no_trace, 0, TYPES);
    tcase_add_loop_test(tc, plans_live_side_by_side, 0, TYPES);
    tcase_add_loop_test(tc, weights_survive_the_arenas, 0, TYPES);
    add_many(tc, predictions_are_the_largest_logits, conformance_nets * STORED);
    tcase_add_loop_test(tc, labels_are_smoothed, 0, 2);
    tcase_add_test(tc, mistakes_are_named);
    tcase_add_loop_test(tc, update_is_pytorchs, 0, STORED);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

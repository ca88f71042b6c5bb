/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/conformance.h"
#include "tests/suites.h"
#include "tests/support.h"

/*
 * The CPU backend with values of bf16 against the reference in double precision, by as much as
 * rounding to bf16 may change. Also on processors that have no instructions for it, and where the
 * library lacks it.
 */

#define UNIT 0x1p-8

static struct trial_device bf16(struct trial_device device)
{
    device.options.type = TYPE_BF16;
    return device;
}

static void check_net(const struct trial_device *device, int net, int rows)
{
    struct trial trial;
    char what[64];
    snprintf(what, sizeof what, "net %d, %d rows", net, rows);
    conformance_net_make(&trial, net, rows);
    conform_rough(device, &trial, UNIT, what);
    trial_free(&trial);
}

START_TEST(operations_agree_with_the_reference)
{
    const struct trial_device device = bf16(trial_cpu_by_layers(2));
    check_net(&device, _i, 5);
}
END_TEST

START_TEST(own_kernels_agree_with_the_reference)
{
    const struct trial_device device = bf16(trial_cpu_by_own_kernels(3));
    check_net(&device, _i, 2);
}
END_TEST

/* The layouts of lesser processors: blocks of 8, and plain. */
START_TEST(operations_agree_with_avx2)
{
    const struct trial_device device = bf16(trial_cpu_by_layers(2));
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2) == dnnl_success)
        check_net(&device, _i, 5);
}
END_TEST

START_TEST(operations_agree_without_vectors)
{
    const struct trial_device device = bf16(trial_cpu_by_layers(2));
    if (dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41) == dnnl_success)
        check_net(&device, _i, 3);
}
END_TEST

START_TEST(models_agree_with_the_reference)
{
    const struct trial_device device = bf16(trial_cpu_by_layers(2));
    struct trial trial;
    conformance_model_make(&trial, _i);
    conform_rough(&device, &trial, UNIT, trial.net->name);
    trial_free(&trial);
}
END_TEST

START_TEST(plans_and_arenas)
{
    struct trial_device device = bf16(trial_cpu_by_layers(2));
    device.options.deterministic = true; /* identical results are expected twice */
    conform_no_rows(&device);
    conform_side_by_side(&device);
    conform_arenas(&device);
    conform_mistakes(&device);
    conform_predictions(&device, 0);
}
END_TEST

/* Bytes that a training pass of resnet18 takes, without what the library works with. */
static double activations(enum number_type type)
{
    struct trial trial;
    struct rig rig;
    struct plan_memory memory;
    struct trial_device device = trial_cpu(2);
    const struct plan_request request = {.mode = PLAN_TRAIN, .rows = 32};
    trial_make_shipped(&trial, "resnet18", (struct net_shape){1, 28, 28}, 1, 1);
    device.options.type = type;
    device.options.estimate = true;
    rig_open(&rig, &trial, &device);
    struct plan *plan = rig_plan(&rig, &request);
    rig.backend->plan_memory(plan, &memory);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
    return (double)memory.activations;
}

START_TEST(activations_take_half)
{
    ck_assert_double_lt(activations(TYPE_BF16), 0.52 * activations(TYPE_F32));
}
END_TEST

/* Small networks fit in the caches, and are computed in f32 as ever. */
START_TEST(small_networks_stay_in_f32)
{
    struct trial trial;
    struct outcome exact, got;
    const struct trial_device f32 = trial_cpu(2), rough = bf16(trial_cpu(2));
    trial_make_shipped(&trial, "lenet", (struct net_shape){1, 28, 28}, 4, 1);
    trial_run(&trial, &f32, PLAN_TRAIN, &exact);
    trial_run(&trial, &rough, PLAN_TRAIN, &got);
    outcome_compare(&trial, &got, &exact, PLAN_TRAIN, 0, "lenet");
    outcome_free(&exact);
    outcome_free(&got);
    trial_free(&trial);
}
END_TEST

START_TEST(processors_without_it_refuse)
{
    struct device_options options = {.id = {DEVICE_CPU, 0}, .type = TYPE_BF16, .threads = 1};
    const struct backend *cpu = trial_cpu(1).backend;
    struct device *device = NULL;
    struct error err = ERROR_INIT;
    unsetenv("DPARTUI_EMULATE_BF16");
    const bool native = processor_has_bf16();
    ck_assert_int_eq(cpu->computes_in(TYPE_BF16, NULL), native);
    ck_assert_int_eq(cpu->open(&options, &device, &err), native);
    if (native)
        cpu->close(device);
    else
        ck_assert_ptr_nonnull(
            strstr(err.text, "cpu:0: the processor has no instructions for bf16"));
    options.type = TYPE_TF32;
    err = (struct error)ERROR_INIT;
    ck_assert(!cpu->open(&options, &device, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cpu:0: CPU devices compute in f32 or bf16"));
}
END_TEST

static void emulate(void)
{
    ck_assert_int_eq(setenv("DPARTUI_EMULATE_BF16", "1", 1), 0);
}

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, emulate, NULL);
    tcase_set_timeout(tc, 240);
    suite_add_tcase(suite, tc);
    return tc;
}

int main(void)
{
    Suite *suite = suite_create("cpu bf16");
    TCase *tc = add_case(suite, "operations");
    tcase_add_loop_test(tc, operations_agree_with_the_reference, 0, conformance_nets);
    add_many(tc, own_kernels_agree_with_the_reference, conformance_nets);
    tc = add_case(suite, "lesser processors");
    add_many(tc, operations_agree_with_avx2, conformance_nets);
    add_many(tc, operations_agree_without_vectors, conformance_nets);
    tc = add_case(suite, "plans");
    tcase_add_test(tc, plans_and_arenas);
    tcase_add_test(tc, small_networks_stay_in_f32);
    tcase_add_test(tc, processors_without_it_refuse);
    tc = add_case(suite, "models");
    tcase_add_loop_test(tc, models_agree_with_the_reference, 0, conformance_models);
    tcase_add_test(tc, activations_take_half);
    return run_suites(suite, NULL);
}

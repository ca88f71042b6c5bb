/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "engine/device/cpu/core/machine.h"
#ifdef HAVE_CUDA_TOOLKIT
#include "engine/device/cuda/backend.h"
#endif
#include "engine/backends/choice.h"
#include "engine/backends/registry.h"
#include "engine/device/device.h"
#include "tests/suites.h"

/* Which devices there are, and what becomes of a run's choice among them. */

static struct error err;
static const struct backend *cpu;

static void setup(void)
{
    const char *why = "";
    err = (struct error)ERROR_INIT;
    cpu = backend_find(DEVICE_CPU, &why);
    ck_assert_ptr_nonnull(cpu);
}

START_TEST(the_machine_has_cores)
{
    struct device_info list[SPEC_MAX_DEVICES];
    char why[100];
    int count;
    ck_assert(cpu->enumerate(list, SPEC_MAX_DEVICES, &count, why, sizeof why, &err));
    ck_assert_int_eq(count, cpu_cores() < SPEC_MAX_DEVICES ? cpu_cores() : SPEC_MAX_DEVICES);
    ck_assert_int_ge(count, 1);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(list[i].id.kind, DEVICE_CPU);
        ck_assert_int_eq(list[i].id.index, i);
        ck_assert(list[i].available);
        ck_assert_uint_gt(list[i].memory_bytes, 1 << 20);
        ck_assert_str_ne(list[i].name, "");
    }
}
END_TEST

START_TEST(devices_stay_on_their_cores)
{
    const int nowhere = 1023;
    struct device_options options = {
        .id = {DEVICE_CPU, 3}, .threads = 2, .cpu_count = 1, .cpus = &nowhere};
    struct device *device;
    ck_assert(!cpu->open(&options, &device, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "cpu:3: "));
}
END_TEST

static bool resolve(const char *text, struct device_id *ids, int *count)
{
    struct device_list list;
    ck_assert_msg(device_list_parse(text, &list, &err), "%s", err.text);
    return devices_resolve(&list, ids, count, &err);
}

START_TEST(choices_become_devices)
{
    struct device_id ids[SPEC_MAX_DEVICES];
    int count;
    ck_assert(resolve("cpu:0-7,cpu:3", ids, &count));
    ck_assert_int_eq(count, 9);
    ck_assert_int_eq(ids[7].index, 7);
    ck_assert_int_eq(ids[8].index, 3);
}
END_TEST

static void refuses(const char *choice, const char *words)
{
    struct device_id ids[SPEC_MAX_DEVICES];
    int count;
    ck_assert(!resolve(choice, ids, &count));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
}

#ifdef HAVE_CUDA_TOOLKIT
/* Made-up GPUs in place of the machine's: cuda:0 is too old. */
static int gpu_count, times_asked;

static bool enumerate(struct device_info *list, int capacity, int *found, char *why,
                      size_t why_size, struct error *error)
{
    (void)capacity;
    (void)error;
    times_asked++;
    *found = gpu_count;
    snprintf(why, why_size, "%s", gpu_count ? "" : "no driver here");
    for (int i = 0; i < gpu_count; i++) {
        list[i] = (struct device_info){.id = {DEVICE_CUDA, i}, .name = "Made-up"};
        list[i].available = i > 0;
        snprintf(list[i].reason, sizeof list[i].reason, "%s", i ? "" : "is too old");
    }
    return true;
}

const struct backend cuda_backend = {.kind = DEVICE_CUDA, .enumerate = enumerate};

static void resolves(const char *choice, const char *expected)
{
    struct device_id ids[SPEC_MAX_DEVICES];
    char text[256] = "", name[DEVICE_NAME];
    int count;
    ck_assert_msg(resolve(choice, ids, &count), "%s", err.text);
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "",
                 device_id_text(ids[i], name));
    ck_assert_str_eq(text, expected);
}

START_TEST(gpus_that_can_be_used_are_taken)
{
    gpu_count = 4;
    resolves("default", "cuda:1,cuda:2,cuda:3");
    resolves("all", "cuda:1,cuda:2,cuda:3");
    resolves("cuda:3,cuda:1,cuda:1", "cuda:3,cuda:1,cuda:1");
    resolves("cpu:0,cuda:2", "cpu:0,cuda:2");
    refuses("cuda:1,cuda:0", "cuda:0 (Made-up) cannot be used: is too old");
    refuses("cuda:4", "no device cuda:4: cuda:0 to cuda:3 can be named");
    gpu_count = 1;
    resolves("default", "cpu:0");
    refuses("all", "no GPU to train on (is too old); use --devices cpu:0");
}
END_TEST

START_TEST(the_first_gpus)
{
    struct device_list list = {.choice = DEVICES_FIRST_GPUS, .count = 2};
    struct device_id ids[SPEC_MAX_DEVICES];
    int count;
    gpu_count = 4;
    ck_assert(devices_resolve(&list, ids, &count, &err));
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(ids[1].index, 2);
    list.count = 4;
    ck_assert(!devices_resolve(&list, ids, &count, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "4 GPUs asked for, 3 can be used here"));
}
END_TEST

START_TEST(machines_without_gpus)
{
    gpu_count = 0;
    resolves("default", "cpu:0");
    refuses("all", "no GPU to train on (no driver here); use --devices cpu:0");
    refuses("cpu:0,cuda:1", "no device cuda:1: no driver here");
}
END_TEST

START_TEST(cpu_devices_do_without_the_driver)
{
    times_asked = 0;
    resolves("cpu:0-2", "cpu:0,cpu:1,cpu:2");
    ck_assert_int_eq(times_asked, 0);
}
END_TEST
#else
START_TEST(this_build_has_no_gpus)
{
    struct device_id ids[SPEC_MAX_DEVICES];
    const char *why = "";
    int count;
    ck_assert(resolve("default", ids, &count));
    ck_assert_int_eq(count, 1);
    ck_assert(ids[0].kind == DEVICE_CPU && ids[0].index == 0);
    ck_assert_ptr_null(backend_find(DEVICE_CUDA, &why));
    ck_assert_ptr_nonnull(strstr(why, "this build has no CUDA backend (" CUDA_MISSING_TEXT "); "));
    refuses("all", why);
    refuses("cpu:0,cuda:1", why);
    refuses("cpu:0,cuda:1", "no device cuda:1: ");
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("devices");
    TCase *tc = tcase_create("devices");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, the_machine_has_cores);
    tcase_add_test(tc, devices_stay_on_their_cores);
    tcase_add_test(tc, choices_become_devices);
#ifdef HAVE_CUDA_TOOLKIT
    tcase_add_test(tc, gpus_that_can_be_used_are_taken);
    tcase_add_test(tc, the_first_gpus);
    tcase_add_test(tc, machines_without_gpus);
    tcase_add_test(tc, cpu_devices_do_without_the_driver);
#else
    tcase_add_test(tc, this_build_has_no_gpus);
#endif
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

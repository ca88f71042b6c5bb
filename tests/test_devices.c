/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <string.h>

#include "engine/device/cpu/cpu.h"
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
    ck_assert(resolve("default", ids, &count));
    ck_assert_int_eq(count, 1);
    ck_assert(ids[0].kind == DEVICE_CPU && ids[0].index == 0);
    ck_assert(resolve("cpu:0-7,cpu:3", ids, &count));
    ck_assert_int_eq(count, 9);
    ck_assert_int_eq(ids[7].index, 7);
    ck_assert_int_eq(ids[8].index, 3);
    ck_assert(!resolve("all", ids, &count));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "this build has no CUDA backend"));
    ck_assert(!resolve("cpu:0,cuda:1", ids, &count));
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "cuda:1"));
}
END_TEST

START_TEST(this_build_has_no_gpus)
{
    const char *why = "";
    ck_assert_ptr_null(backend_find(DEVICE_CUDA, &why));
    ck_assert_str_eq(why, "this build has no CUDA backend");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("devices");
    TCase *tc = tcase_create("devices");
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_test(tc, the_machine_has_cores);
    tcase_add_test(tc, devices_stay_on_their_cores);
    tcase_add_test(tc, choices_become_devices);
    tcase_add_test(tc, this_build_has_no_gpus);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

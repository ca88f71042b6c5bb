/* SPDX-License-Identifier: MIT */
/* What is asked of NVML and made of its answers, against a made-up library; no threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/nvml/library.h"
#include "engine/nvml/scan.h"
#include "tests/engine/nvml/nvml_fixture.h"
#include "tests/suites.h"

/* Sizes of the structures on 64-bit Linux, from NVIDIA's documentation. */
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(sizeof(struct nvml_attributes) == 40, "nvmlDeviceAttributes_t");
_Static_assert(sizeof(struct nvml_temperature_v1) == 12, "nvmlTemperature_v1_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");
_Static_assert(sizeof(struct nvml_process_use) == 32, "nvmlProcessUtilizationSample_t");

static struct nvml_api api;
static struct nvml_scan scan;
static double now;

static void open_library(void)
{
    char why[200];
    ck_assert_msg(nvml_library_open(&api, fake_path, why, sizeof why), "%s", why);
}

static void begin(void)
{
    fake_load(false);
    open_library();
    now = 100;
}

static void begin_old(void)
{
    fake_load(true);
    open_library();
    now = 100;
}

static void end(void)
{
    nvml_scan_end(&api, &scan);
    nvml_library_close(&api);
    ck_assert_int_eq(fake->open, 0);
    ck_assert_int_eq(fake->samples, 0);
    fake_unload();
}

/* One round, two seconds after the one before. True: what can be seen changed. */
static bool read_all(void)
{
    bool changed = false, restart = false;
    now += 2;
    for (int i = 0; i < scan.count; i++)
        changed |= nvml_gpu_read(&api, &scan.gpu[i], now, true, &restart);
    return changed;
}

static void look(int gpus)
{
    fake->gpus = gpus;
    nvml_scan_look(&api, NULL, &scan);
    read_all();
}

static const struct gpu_figures *first(void)
{
    return &scan.gpu[0].figures;
}

static double figure(enum sensor sensor)
{
    return first()->sensors.figure[sensor];
}

static const char *missing(enum sensor sensor)
{
    return first()->sensors.missing[sensor].text;
}

START_TEST(gpus_of_every_number)
{
    static const int numbers[] = {0, 1, 8, 16};
    look(numbers[_i]);
    ck_assert_int_eq(scan.count, numbers[_i]);
    ck_assert_str_eq(scan.none.text, numbers[_i] ? "" : "the NVIDIA driver has found no GPU");
    for (int i = 0; i < scan.count; i++) {
        const struct gpu_figures *gpu = &scan.gpu[i].figures;
        char uuid[NVML_UUID_SIZE];
        snprintf(uuid, sizeof uuid, "GPU-%02d000000-0000-4000-8000-000000000000", i);
        ck_assert_str_eq(gpu->uuid, uuid);
        ck_assert(gpu->working);
        ck_assert_double_eq(gpu->sensors.figure[SENSOR_POWER], 400 + i);
    }
}
END_TEST

START_TEST(every_figure)
{
    fake->throttle = NVML_THROTTLE_POWER_CAP;
    look(1);
    ck_assert_str_eq(first()->name, "NVIDIA Made-up 80GB");
    ck_assert_uint_eq(first()->memory_total, FAKE_MEMORY_TOTAL);
    ck_assert_uint_eq(first()->memory_used, 10ULL << 30);
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 50);
    ck_assert_double_eq(figure(SENSOR_POWER), 400);
    ck_assert_double_eq(figure(SENSOR_POWER_LIMIT), 700);
    ck_assert_double_eq(figure(SENSOR_CLOCK), 1755);
    ck_assert_double_eq(figure(SENSOR_CLOCK_MAX), 1980);
    ck_assert(first()->sensors.throttle_known);
    ck_assert_str_eq(first()->sensors.throttle, "power cap");
    /* Rates come with the second reading; until then what the driver sums up itself. */
    ck_assert_double_nan(figure(SENSOR_PCIE_RX));
    ck_assert_str_eq(missing(SENSOR_PCIE_RX), "the NVIDIA driver has no figure yet");
    ck_assert_double_eq_tol(first()->load, 0.40, 1e-9);
    ck_assert_double_nan(first()->tensor_load);
    fake->received += 4000000000ULL;
    fake->sent += 1000000ULL;
    ck_assert(read_all());
    ck_assert_double_eq_tol(figure(SENSOR_PCIE_RX), 2e9, 1);
    ck_assert_double_eq_tol(figure(SENSOR_PCIE_TX), 5e5, 1);
    ck_assert_double_eq_tol(first()->load, 0.38, 1e-9);
    ck_assert_double_eq_tol(first()->tensor_load, 0.12, 1e-9);
    ck_assert_double_eq_tol(first()->memory_load, 0.25, 1e-9);
    for (int i = 0; i < SENSOR_COUNT; i++)
        ck_assert_str_eq(missing((enum sensor)i), "");
}
END_TEST

START_TEST(only_what_can_be_seen_is_a_change)
{
    look(2);
    read_all();
    read_all();
    ck_assert(!read_all());
    fake->memory_used += 1000;
    ck_assert(!read_all());
    fake->celsius = 51;
    ck_assert(read_all());
    ck_assert(!read_all());
    fake->throttle = NVML_THROTTLE_THERMAL;
    ck_assert(read_all());
    fake->memory_used += 1ULL << 30;
    ck_assert(read_all());
    ck_assert(!read_all());
}
END_TEST

START_TEST(counters_begin_again)
{
    fake->received = 1ULL << 40;
    look(1);
    fake->received = 5;
    read_all();
    ck_assert_double_nan(figure(SENSOR_PCIE_RX));
    fake->received = 5 + 2000000;
    read_all();
    ck_assert_double_eq_tol(figure(SENSOR_PCIE_RX), 1e6, 1);
}
END_TEST

/* One call that fails costs its own figure only, and says why. */
START_TEST(each_error_has_a_reason)
{
    static const int codes[] = {NVML_NOT_SUPPORTED, NVML_NO_PERMISSION, NVML_UNKNOWN};
    static const struct {
        enum fake_call call;
        enum sensor sensor;
    } of[] = {{FAKE_TEMPERATURE, SENSOR_TEMPERATURE}, {FAKE_POWER, SENSOR_POWER},
              {FAKE_POWER_LIMIT, SENSOR_POWER_LIMIT}, {FAKE_CLOCK, SENSOR_CLOCK},
              {FAKE_CLOCK_MAX, SENSOR_CLOCK_MAX},     {FAKE_THROTTLE, SENSOR_THROTTLE}};
    look(1);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        fake->code[of[i].call] = codes[_i];
        ck_assert(read_all());
        for (int j = 0; j < SENSOR_COUNT; j++)
            ck_assert_str_eq(missing((enum sensor)j),
                             j == (int)of[i].sensor ? nvml_words(codes[_i]) : "");
        if (of[i].sensor < SENSOR_FIGURES)
            ck_assert_double_nan(figure(of[i].sensor));
        ck_assert(first()->working);
        fake->code[of[i].call] = NVML_SUCCESS;
        ck_assert(read_all());
    }
    fake->code[FAKE_MEMORY] = codes[_i];
    read_all();
    ck_assert_uint_eq(first()->memory_used, 0);
    ck_assert_uint_eq(first()->memory_total, FAKE_MEMORY_TOTAL);
    ck_assert_str_eq(first()->no_memory.text, nvml_words(codes[_i]));
}
END_TEST

START_TEST(without_gpm_there_is_plain_utilization)
{
    fake->gpm = 0;
    look(1);
    read_all();
    ck_assert_double_eq_tol(first()->load, 0.40, 1e-9);
    ck_assert_double_nan(first()->tensor_load);
    ck_assert_str_eq(first()->no_tensor_load.text, nvml_words(NVML_NOT_SUPPORTED));
    fake->code[FAKE_UTILIZATION] = NVML_NOT_SUPPORTED;
    read_all();
    ck_assert_double_nan(first()->load);
    ck_assert_str_eq(first()->no_load.text, nvml_words(NVML_NOT_SUPPORTED));
}
END_TEST

START_TEST(without_counters_there_is_the_sampler)
{
    look(1);
    fake->code[FAKE_FIELDS] = NVML_NOT_SUPPORTED;
    read_all();
    ck_assert_double_eq_tol(figure(SENSOR_PCIE_RX), 6e6, 1);
    ck_assert_double_eq_tol(figure(SENSOR_PCIE_TX), 3e6, 1);
    fake->code[FAKE_PCIE] = NVML_NOT_SUPPORTED;
    read_all();
    ck_assert_str_eq(missing(SENSOR_PCIE_TX), nvml_words(NVML_NOT_SUPPORTED));
}
END_TEST

START_TEST(an_old_driver)
{
    look(1);
    read_all();
    ck_assert_uint_eq(first()->memory_used, 10ULL << 30);
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 50);
    ck_assert_double_eq(figure(SENSOR_POWER_LIMIT), 650);
    ck_assert_double_eq_tol(figure(SENSOR_PCIE_RX), 6e6, 1);
    ck_assert_double_eq_tol(first()->load, 0.40, 1e-9);
    ck_assert(first()->sensors.throttle_known);
    ck_assert_double_nan(first()->memory_load);
}
END_TEST

START_TEST(a_lost_gpu_and_its_return)
{
    look(8);
    fake->lost = 3;
    ck_assert(read_all());
    const struct gpu_figures *gpu = &scan.gpu[3].figures;
    ck_assert(!gpu->working);
    ck_assert_str_eq(gpu->broken.text, nvml_words(NVML_GPU_IS_LOST));
    ck_assert_double_nan(gpu->load);
    ck_assert_str_eq(gpu->sensors.missing[SENSOR_POWER].text, gpu->broken.text);
    ck_assert(scan.gpu[2].figures.working && scan.gpu[4].figures.working);
    ck_assert(!read_all());
    /* It keeps its place and its name, even when there is no handle for it any more. */
    ck_assert(nvml_scan_look(&api, NULL, &scan));
    ck_assert_int_eq(scan.count, 8);
    read_all();
    ck_assert_str_eq(gpu->uuid, "GPU-03000000-0000-4000-8000-000000000000");
    ck_assert_str_eq(gpu->name, "NVIDIA Made-up 80GB");
    ck_assert(!gpu->working);
    ck_assert(!nvml_scan_look(&api, NULL, &scan));
    fake->lost = -1;
    ck_assert(nvml_scan_look(&api, NULL, &scan));
    read_all();
    ck_assert(gpu->working);
    ck_assert_str_eq(gpu->broken.text, "");
    ck_assert_double_eq(gpu->sensors.figure[SENSOR_POWER], 403);
}
END_TEST

START_TEST(a_gpu_lost_from_the_beginning)
{
    fake->lost = 0;
    look(2);
    ck_assert_int_eq(scan.count, 2);
    ck_assert(!first()->working);
    ck_assert_str_eq(first()->broken.text, nvml_words(NVML_GPU_IS_LOST));
    ck_assert(scan.gpu[1].figures.working);
}
END_TEST

START_TEST(a_restarted_driver_is_noticed)
{
    bool restart = false;
    look(1);
    fake->code[FAKE_POWER] = NVML_UNINITIALIZED;
    nvml_gpu_read(&api, &scan.gpu[0], now, true, &restart);
    ck_assert(restart);
}
END_TEST

START_TEST(mig_instances)
{
    fake->mig = 3;
    look(2);
    read_all();
    ck_assert_int_eq(scan.count, 6);
    const struct gpu_figures *gpu = &scan.gpu[4].figures;
    ck_assert_str_eq(gpu->uuid, "MIG-01010000-0000-5000-8000-000000000000");
    ck_assert_str_eq(gpu->name, "NVIDIA Made-up 80GB MIG 1g");
    ck_assert_int_eq(gpu->cores, 16);
    ck_assert_uint_eq(gpu->memory_total, FAKE_MEMORY_TOTAL >> 3);
    ck_assert_double_eq_tol(gpu->load, 0.38, 1e-9);
    ck_assert_double_eq(gpu->sensors.figure[SENSOR_POWER], 401);
    /* Without GPM nobody knows the load of an instance. */
    fake->gpm = 0;
    nvml_scan_end(&api, &scan);
    look(1);
    ck_assert_double_nan(first()->load);
    ck_assert_str_eq(first()->no_load.text, nvml_words(NVML_NOT_SUPPORTED));
}
END_TEST

START_TEST(why_there_are_none)
{
    fake->gpus = 2;
    nvml_scan_look(&api, "", &scan);
    ck_assert_str_eq(scan.none.text, "CUDA_VISIBLE_DEVICES hides every GPU");
    ck_assert(nvml_scan_look(&api, "1", &scan));
    ck_assert_int_eq(scan.count, 1);
    ck_assert_str_eq(scan.none.text, "");
    ck_assert_str_eq(first()->uuid, "GPU-01000000-0000-4000-8000-000000000000");
    fake->code[FAKE_COUNT] = NVML_UNKNOWN;
    nvml_scan_look(&api, NULL, &scan);
    ck_assert_int_eq(scan.count, 1);
    ck_assert_str_eq(scan.none.text, nvml_words(NVML_UNKNOWN));
}
END_TEST

START_TEST(libraries_that_cannot_be_used)
{
    static const struct {
        int code;
        const char *words;
    } of[] = {{NVML_DRIVER_NOT_LOADED, "the NVIDIA driver is not loaded"},
              {NVML_VERSION_MISMATCH, "of different versions: reboot"},
              {NVML_NO_PERMISSION, "not let this user read it"},
              {NVML_OPERATING_SYSTEM, "a control group keeps this process"},
              {NVML_UNKNOWN, "the NVIDIA driver cannot be used"}};
    struct nvml_api other;
    char why[200];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        fake->code[FAKE_INIT] = of[i].code;
        ck_assert(!nvml_library_open(&other, fake_path, why, sizeof why));
        ck_assert_msg(strstr(why, of[i].words) != NULL, "%s", why);
        nvml_library_close(&other);
    }
    ck_assert(!nvml_library_open(&other, "/no/such.so", why, sizeof why));
    ck_assert_str_eq(why,
                     "no NVIDIA driver is installed, or not all of it: /no/such.so was not found");
    ck_assert(!nvml_library_open(&other, "libm.so.6", why, sizeof why));
    ck_assert_str_eq(why, "libm.so.6 is not the library of an NVIDIA driver that is known here");
}
END_TEST

START_TEST(throttle_reasons_in_words)
{
    static const struct {
        unsigned long long bits;
        const char *words;
    } of[] = {{0, ""},
              {0x1, ""},
              {0x2, "set clocks"},
              {0x4, "power cap"},
              {0x8, "hardware slowdown"},
              {0x10, "sync boost"},
              {0x20, "thermal"},
              {0x48, "thermal (hardware)"},
              {0x68, "thermal (hardware)"},
              {0x88, "power brake"},
              {0x100, "display clocks"},
              {0x200, "board limit"},
              {0x400, "reliability"},
              {0x24, "thermal, power cap"},
              {0xff, "thermal (hardware), power brake, power cap"},
              {0xf000, ""}};
    char words[48], few[12];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        nvml_throttle_words(of[i].bits, words, sizeof words);
        ck_assert_str_eq(words, of[i].words);
    }
    nvml_throttle_words(0x24, few, sizeof few);
    ck_assert_str_eq(few, "thermal");
}
END_TEST

int main(void)
{
    if (!fake_is_there())
        return 77;
    Suite *suite = suite_create("NVML");
    TCase *tests = tcase_create("new driver"), *old = tcase_create("old driver");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_loop_test(tests, gpus_of_every_number, 0, 4);
    tcase_add_test(tests, every_figure);
    tcase_add_test(tests, only_what_can_be_seen_is_a_change);
    tcase_add_test(tests, counters_begin_again);
    tcase_add_loop_test(tests, each_error_has_a_reason, 0, 3);
    tcase_add_test(tests, without_gpm_there_is_plain_utilization);
    tcase_add_test(tests, without_counters_there_is_the_sampler);
    tcase_add_test(tests, a_lost_gpu_and_its_return);
    tcase_add_test(tests, a_gpu_lost_from_the_beginning);
    tcase_add_test(tests, a_restarted_driver_is_noticed);
    tcase_add_test(tests, mig_instances);
    tcase_add_test(tests, why_there_are_none);
    tcase_add_test(tests, libraries_that_cannot_be_used);
    tcase_add_test(tests, throttle_reasons_in_words);
    tcase_add_checked_fixture(old, begin_old, end);
    tcase_add_test(old, an_old_driver);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, old);
    return run_suites(suite, nvml_thread_suite(), nvml_processes_suite(), NULL);
}

/* SPDX-License-Identifier: MIT */
/* What states report of the sensors of a made-up machine. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fakes/engine_thread.h"
#include "tests/support.h"

static char *made_up;

static void put_cpu_file(int cpu, const char *name, const char *text)
{
    char *path = format("sys/devices/system/cpu/cpu%d/%s", cpu, name);
    put_file(made_up, path, text, strlen(text));
    free(path);
}

/* One package of CPUs that know their clock and heat, a power limit, and no power. */
static void begin_with_sensors(void)
{
    static const char *const files[][2] = {
        {"sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"},
        {"sys/class/thermal/thermal_zone0/temp", "56400\n"},
        {"sys/class/powercap/intel-rapl:0/name", "package-0\n"},
        {"sys/class/powercap/intel-rapl:0/constraint_0_name", "long_term\n"},
        {"sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "350000000\n"}};
    cpu_set_t mask;
    ck_assert_int_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    made_up = temporary_folder();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put_file(made_up, files[i][0], files[i][1], strlen(files[i][1]));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &mask))
            continue;
        put_cpu_file(cpu, "cpufreq/scaling_cur_freq", "1754321\n");
        put_cpu_file(cpu, "cpufreq/cpuinfo_max_freq", "1980000\n");
        put_cpu_file(cpu, "thermal_throttle/core_throttle_count", "7\n");
    }
    engine_begin_on(made_up);
}

static void end_with_sensors(void)
{
    engine_end();
    remove_tree(made_up);
}

START_TEST(states_tell_of_sensors)
{
    struct client *client = viewer();
    tell(client, "watch", json_pack("{s:f}", "interval", 0.05));
    json_t *state, *device;
    for (;; json_decref(state)) {
        state = next_note(client, "state");
        device = json_array_get(json_object_get(state, "devices"), 0);
        if (json_is_real(json_object_get(device, "temperature_c")))
            break;
    }
    /* This system does not tell its memory: the device's own figure is left. */
    ck_assert_double_gt(number_of(device, "memory_total"), 0);
    ck_assert_double_eq(number_of(device, "temperature_c"), 56);
    ck_assert_double_eq(number_of(device, "power_limit_w"), 350);
    ck_assert(json_is_integer(json_object_get(device, "clock_mhz")));
    ck_assert_double_eq(number_of(device, "clock_mhz"), 1750);
    ck_assert_double_eq(number_of(device, "clock_max_mhz"), 1980);
    ck_assert_str_eq(string_of(device, "throttle"), "");
    ck_assert(json_is_null(json_object_get(device, "power_w")));
    ck_assert(json_is_null(json_object_get(device, "pcie_rx")));
    ck_assert(json_is_null(json_object_get(device, "pcie_tx")));
    const json_t *missing = json_object_get(device, "missing");
    ck_assert_uint_eq(json_object_size(missing), 3);
    ck_assert_str_eq(string_of(missing, "power_w"),
                     "/sys/class/powercap/intel-rapl:0/energy_uj: no such file");
    ck_assert_str_eq(string_of(missing, "pcie_rx"), "a CPU device has no PCIe link");
    ck_assert_str_eq(string_of(missing, "pcie_tx"), "a CPU device has no PCIe link");
    json_decref(state);
    client_close(client);
}
END_TEST

Suite *sensor_states_suite(void)
{
    Suite *suite = suite_create("states of sensors");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin_with_sensors, end_with_sensors);
    tcase_add_test(tests, states_tell_of_sensors);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: MIT */
/* Sensors of CPUs of several kinds of machine. */
#include <stdio.h>

#include "tests/fakes/made_up_machine.h"
#include "tests/suites.h"

START_TEST(an_intel_server_tells_everything)
{
    add_intel();
    look();
    assert_missing(SENSOR_POWER, "next reading");
    set(RAPL "0/energy_uj", "201000000\n");
    set(RAPL "1/energy_uj", "700400000\n");
    ck_assert(look_again());
    struct device_sensors first = device(0, 2), second = device(2, 2), both = device(0, 4);
    ck_assert_double_eq(first.figure[SENSOR_TEMPERATURE], 56);
    ck_assert_double_eq(second.figure[SENSOR_TEMPERATURE], 71);
    ck_assert_double_eq(both.figure[SENSOR_TEMPERATURE], 71);
    ck_assert_double_eq(first.figure[SENSOR_POWER], 100);
    ck_assert_double_eq(both.figure[SENSOR_POWER], 200);
    ck_assert_double_eq(second.figure[SENSOR_POWER_LIMIT], 350);
    ck_assert_double_eq(both.figure[SENSOR_POWER_LIMIT], 700);
    ck_assert_double_eq(first.figure[SENSOR_CLOCK], 2050);
    ck_assert_double_eq(second.figure[SENSOR_CLOCK], 2250);
    ck_assert_double_eq(both.figure[SENSOR_CLOCK_MAX], 3500);
    ck_assert(both.throttle_known);
    ck_assert_str_eq(both.throttle, "");
    assert_missing(SENSOR_PCIE_RX, "no PCIe link");
    assert_missing(SENSOR_PCIE_TX, "no PCIe link");
}
END_TEST

START_TEST(throttling_is_reported_while_it_lasts)
{
    add_intel();
    look();
    set(CPU "1/thermal_throttle/core_throttle_count", "4\n");
    set(CPU "3/thermal_throttle/package_throttle_count", "11\n");
    ck_assert(look_again());
    ck_assert_str_eq(device(0, 1).throttle, "");
    ck_assert_str_eq(device(0, 2).throttle, "thermal");
    ck_assert_str_eq(device(2, 2).throttle, "thermal");
    ck_assert(look_again());
    ck_assert_str_eq(device(0, 4).throttle, "");
    /* Counts that begin again, as after a CPU was off, are no throttling. */
    set(CPU "1/thermal_throttle/core_throttle_count", "0\n");
    look_again();
    ck_assert_str_eq(device(0, 4).throttle, "");
}
END_TEST

START_TEST(a_quota_of_any_group_around_is_told)
{
    add_intel();
    set("proc/self/cgroup", "12:cpu:/elsewhere\n0::/pod/engine\n");
    set(CGROUP "/pod/engine/cpu.max", "max 100000\n");
    set(CGROUP "/pod/engine/cpu.stat", "nr_throttled 5\n");
    set(CGROUP "/pod/cpu.max", "150000 100000\n");
    set(CGROUP "/pod/cpu.stat", "usage_usec 7\nnr_periods 9\nnr_throttled 5\nthrottled_usec 6\n");
    look();
    set(CGROUP "/pod/engine/cpu.stat", "nr_throttled 6\n");
    look_again();
    ck_assert_str_eq(device(0, 4).throttle, "");
    set(CGROUP "/pod/cpu.stat", "usage_usec 8\nnr_periods 10\nnr_throttled 6\nthrottled_usec 7\n");
    ck_assert(look_again());
    ck_assert_str_eq(device(0, 4).throttle, "cgroup quota");
    set(CGROUP "/pod/cpu.stat", "nr_throttled 16\n");
    set(CPU "0/thermal_throttle/core_throttle_count", "99\n");
    look_again();
    ck_assert_str_eq(device(0, 4).throttle, "thermal, cgroup quota");
    ck_assert(look_again());
    ck_assert_str_eq(device(0, 4).throttle, "");
}
END_TEST

START_TEST(a_quota_is_told_without_heat_counters)
{
    add_cpus(2, 1);
    set("proc/self/cgroup", "0::/\n");
    set(CGROUP "/cpu.max", "50000 100000\n");
    set(CGROUP "/cpu.stat", "nr_throttled 1\n");
    look();
    assert_missing(SENSOR_THROTTLE, "thermal_throttle");
    set(CGROUP "/cpu.stat", "nr_throttled 2\n");
    ck_assert(look_again());
    ck_assert(device(0, 2).throttle_known);
    ck_assert_str_eq(device(0, 2).throttle, "cgroup quota");
    /* Told without a gap, although quotas are looked for again every minute. */
    for (int i = 0; i < 32; i++) {
        char text[32];
        snprintf(text, sizeof text, "nr_throttled %d\n", 3 + i);
        set(CGROUP "/cpu.stat", text);
        ck_assert(!look_again());
        ck_assert_str_eq(device(0, 2).throttle, "cgroup quota");
    }
    ck_assert(look_again());
    assert_missing(SENSOR_THROTTLE, "thermal_throttle");
}
END_TEST

START_TEST(an_amd_cpu_tells_its_die)
{
    add_cpus(8, 1);
    set(HWMON "0/name", "amdgpu\n");
    set(HWMON "0/temp1_input", "88000\n");
    set(HWMON "3/name", "k10temp\n");
    set(HWMON "3/temp1_input", "76000\n");
    set(HWMON "3/temp1_label", "Tctl\n");
    set(HWMON "3/temp2_input", "49000\n");
    set(HWMON "3/temp2_label", "Tdie\n");
    set(HWMON "3/temp3_input", "80000\n");
    set(HWMON "3/temp3_label", "Tccd1\n");
    look();
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 49);
    assert_missing(SENSOR_POWER, "/sys/class/powercap");
    assert_missing(SENSOR_POWER_LIMIT, "/sys/class/powercap");
    assert_missing(SENSOR_THROTTLE, "only on Intel");
}
END_TEST

START_TEST(sensors_without_a_number_go_by_order)
{
    add_cpus(4, 2);
    set(HWMON "10/name", "k10temp\n");
    set(HWMON "10/temp1_input", "62000\n");
    set(HWMON "9/name", "k10temp\n");
    set(HWMON "9/temp1_input", "51000\n");
    look();
    ck_assert_double_eq(device(0, 2).figure[SENSOR_TEMPERATURE], 51);
    ck_assert_double_eq(device(2, 2).figure[SENSOR_TEMPERATURE], 62);
}
END_TEST

START_TEST(a_virtual_machine_tells_its_clock)
{
    add_cpus(2, 1);
    set("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: 2299.998\n\n"
                        "processor\t: 1\ncpu MHz\t\t: 2501.000\n\n"
                        "processor\t: 99999\ncpu MHz\t\t: 1\nprocessor\t: 1023\ncpu MHz : nan\n");
    look();
    ck_assert_double_eq(device(0, 1).figure[SENSOR_CLOCK], 2300);
    ck_assert_double_eq(figure(SENSOR_CLOCK), 2400);
    assert_missing(SENSOR_CLOCK_MAX, "cpufreq");
    assert_missing(SENSOR_TEMPERATURE, "/sys/class/hwmon or /sys/class/thermal");
    assert_missing(SENSOR_POWER, "/sys/class/powercap");
    for (int i = 0; i < 40; i++)
        ck_assert(!look_again());
}
END_TEST

START_TEST(an_empty_system_tells_why)
{
    machine.count = 2;
    machine.cpus[1] = 1;
    look();
    for (int i = 0; i < SENSOR_COUNT; i++)
        assert_missing((enum sensor)i, " ");
    machine.count = 0;
    assert_missing(SENSOR_POWER, " ");
}
END_TEST

START_TEST(a_small_board_tells_its_zone)
{
    add_cpus(4, 1);
    set(CPU "0/topology/physical_package_id", "-1\n");
    set(ZONE "0/type", "gpu-thermal\n");
    set(ZONE "0/temp", "77000\n");
    set(ZONE "1/type", "cpu-thermal\n");
    set(ZONE "1/temp", "48312\n");
    look();
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 48);
    set(ZONE "1/temp", "-5200\n");
    ck_assert(look_again());
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), -5);
    /* The same zone by way of hwmon, as newer kernels show it. */
    set(HWMON "0/name", "cpu_thermal\n");
    set(HWMON "0/temp1_input", "30000\n");
    cpu_sensors_close(machine.sensors);
    look();
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 30);
}
END_TEST

START_TEST(an_energy_counter_begins_again)
{
    add_cpus(1, 1);
    set(RAPL "0/name", "package-0\n");
    set(RAPL "0/max_energy_range_uj", "65532610987\n");
    set(RAPL "0/energy_uj", "65432610987\n");
    look();
    assert_missing(SENSOR_POWER_LIMIT, "no long-term limit");
    set(RAPL "0/energy_uj", "140000000\n");
    look_again();
    ck_assert_double_eq(figure(SENSOR_POWER), 120);
    /* Reset rather than wrapped: 65 kJ in two seconds are not believed, and the next is right. */
    set(RAPL "0/energy_uj", "1\n");
    look_again();
    assert_missing(SENSOR_POWER, "next reading");
    set(RAPL "0/energy_uj", "60000001\n");
    look_again();
    ck_assert_double_eq(figure(SENSOR_POWER), 30);
}
END_TEST

static Suite *sensors_suite(void)
{
    Suite *suite = suite_create("sensors");
    TCase *tests = tcase_create("machines");
    tcase_add_checked_fixture(tests, machine_begin, machine_end);
    tcase_add_test(tests, an_intel_server_tells_everything);
    tcase_add_test(tests, throttling_is_reported_while_it_lasts);
    tcase_add_test(tests, a_quota_of_any_group_around_is_told);
    tcase_add_test(tests, a_quota_is_told_without_heat_counters);
    tcase_add_test(tests, an_amd_cpu_tells_its_die);
    tcase_add_test(tests, sensors_without_a_number_go_by_order);
    tcase_add_test(tests, a_virtual_machine_tells_its_clock);
    tcase_add_test(tests, an_empty_system_tells_why);
    tcase_add_test(tests, a_small_board_tells_its_zone);
    tcase_add_test(tests, an_energy_counter_begins_again);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return run_suites(sensors_suite(), sensor_faults_suite(), NULL);
}

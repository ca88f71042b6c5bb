/* SPDX-License-Identifier: MIT */
/* Sensors that are secret, vanish, lie, hang, or are too many; and the thread that reads them. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/telemetry/telemetry.h"
#include "tests/fakes/made_up_machine.h"
#include "tests/support.h"

START_TEST(what_only_root_may_read_is_said)
{
    add_intel();
    char *secret = format("%s/" RAPL "0/energy_uj", machine.folder);
    ck_assert_int_eq(chmod(secret, 0), 0);
    ck_assert_int_eq(chmod(machine.folder, 0755), 0);
    bool root = geteuid() == 0;
    if (root)
        ck_assert_int_eq(seteuid(65534), 0);
    look();
    look_again();
    struct device_sensors first = device(0, 2), second = device(2, 2);
    if (root)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_double_nan(first.figure[SENSOR_POWER]);
    ck_assert_str_eq(first.missing[SENSOR_POWER].text,
                     "/sys/class/powercap/intel-rapl:0/energy_uj: only root may read it");
    ck_assert_double_eq(first.figure[SENSOR_POWER_LIMIT], 350);
    ck_assert_double_eq(second.figure[SENSOR_POWER], 0);
    ck_assert_double_eq(first.figure[SENSOR_TEMPERATURE], 56);
    free(secret);
}
END_TEST

START_TEST(files_vanish_and_come_back)
{
    add_intel();
    look();
    look_again();
    vanish(HWMON "1/temp1_input");
    vanish(HWMON "2/temp1_input");
    vanish(RAPL "0/energy_uj");
    vanish(CPU "0/cpufreq/scaling_cur_freq");
    vanish(CPU "1/cpufreq/cpuinfo_max_freq");
    vanish(CPU "1/thermal_throttle/core_throttle_count");
    ck_assert(look_again());
    assert_missing(SENSOR_TEMPERATURE, "/sys/class/hwmon/hwmon2/temp1_input: no such file");
    assert_missing(SENSOR_POWER, "/sys/class/powercap/intel-rapl:0/energy_uj: no such file");
    ck_assert_double_eq(device(0, 2).figure[SENSOR_CLOCK], 2100);
    ck_assert(!look_again());
    set(HWMON "2/temp1_input", "57000\n");
    set(CPU "0/cpufreq/scaling_cur_freq", "1000000\n");
    ck_assert(look_again());
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 57);
    ck_assert_double_eq(device(0, 2).figure[SENSOR_CLOCK], 1550);
    /* A driver that is loaded again gets another number: found within a minute. */
    vanish(HWMON "2/temp1_input");
    vanish(HWMON "2/name");
    set(HWMON "7/name", "coretemp\n");
    set(HWMON "7/temp1_label", "Package id 0\n");
    set(HWMON "7/temp1_input", "44000\n");
    for (int i = 0; i < 30; i++)
        look_again();
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 44);
}
END_TEST

START_TEST(garbage_is_not_believed)
{
    static const char *const garbage[] = {
        "",        "\n",       "abc\n",     "5x\n",
        "0x10\n",  "5 6\n",    "nan\n",     "99999999999999999999999999\n",
        "1e5\n",   "300000\n", "-300000\n", "-99999999999999999999999999\n",
        "12\n34\n"};
    add_intel();
    look();
    look_again();
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        set(HWMON "1/temp1_input", garbage[i]);
        set(HWMON "2/temp1_input", garbage[i]);
        look_again();
        assert_missing(SENSOR_TEMPERATURE, "hold");
    }
    set(RAPL "0/energy_uj", "-5\n");
    set(CPU "0/cpufreq/scaling_cur_freq", "0\n");
    set(CPU "0/cpufreq/cpuinfo_max_freq", "9000000000000\n");
    set(CPU "0/thermal_throttle/core_throttle_count", "-1\n");
    set(CPU "0/thermal_throttle/package_throttle_count", "18446744073709551615\n");
    look_again();
    assert_missing(SENSOR_POWER, "energy_uj: holds an impossible number");
    ck_assert_double_eq(figure(SENSOR_CLOCK), 2200);
    ck_assert_double_nan(device(0, 1).figure[SENSOR_CLOCK]);
    ck_assert_double_nan(device(0, 1).figure[SENSOR_CLOCK_MAX]);
    ck_assert_str_eq(device(0, 4).throttle, "");
}
END_TEST

START_TEST(trembling_figures_are_no_news)
{
    add_intel();
    look();
    look_again();
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 71);
    set(HWMON "1/temp1_input", "71600\n");
    set(CPU "0/cpufreq/scaling_cur_freq", "2006000\n");
    ck_assert(!look_again());
    set(HWMON "1/temp1_input", "70400\n");
    ck_assert(!look_again());
    set(HWMON "1/temp1_input", "71900\n");
    ck_assert(look_again());
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 72);
    set(CPU "0/cpufreq/scaling_cur_freq", "2049000\n");
    ck_assert(look_again());
    ck_assert_double_eq(device(0, 1).figure[SENSOR_CLOCK], 2050);
    /* Not yet time: nothing is read. */
    set(HWMON "1/temp1_input", "90000\n");
    machine.now -= 1;
    ck_assert(!look_again());
}
END_TEST

START_TEST(all_of_many_cpus_get_their_turn)
{
    add_cpus(200, 1);
    for (int i = 0; i < 200; i++) {
        char path[128];
        snprintf(path, sizeof path, CPU "%d/cpufreq/scaling_cur_freq", i);
        set(path, i < 199 ? "2000000\n" : "3000000\n");
        snprintf(path, sizeof path, CPU "%d/thermal_throttle/core_throttle_count", i);
        set(path, "0\n");
    }
    look();
    ck_assert_double_nan(device(199, 1).figure[SENSOR_CLOCK]);
    for (int i = 0; i < 3; i++)
        look_again();
    ck_assert_double_eq(device(199, 1).figure[SENSOR_CLOCK], 3000);
    set(CPU "150/thermal_throttle/core_throttle_count", "1\n");
    for (int i = 0; i < 3; i++)
        look_again();
    ck_assert_str_eq(device(150, 1).throttle, "thermal");
    ck_assert_str_eq(device(100, 50).throttle, "");
}
END_TEST

START_TEST(cpus_beyond_the_last_are_ignored)
{
    static const int cpus[] = {TELEMETRY_MAX_CPUS - 1, TELEMETRY_MAX_CPUS, 5000, -1, 1 << 30};
    memcpy(machine.cpus, cpus, sizeof cpus);
    machine.count = 5;
    set("proc/cpuinfo", "processor : 1023\ncpu MHz : 1000\nprocessor : 1024\ncpu MHz : 3000\n"
                        "processor : 99999999999999\ncpu MHz : 3000\n");
    set(CPU "1024/topology/physical_package_id", "1\n");
    set(CPU "99999999999/topology/physical_package_id", "2\n");
    set(CPU "1023/topology/physical_package_id", "3\n");
    look();
    ck_assert_double_eq(figure(SENSOR_CLOCK), 1000);
    ck_assert_double_nan(device(1, 4).figure[SENSOR_CLOCK]);
    static struct cpu_ticks ticks[TELEMETRY_MAX_CPUS];
    telemetry_parse_stat("cpu1023 1 1 1 1\ncpu1024 2 2 2 2\ncpu2147483647 3 3 3 3\n"
                         "cpu99999999999999999999 4 4 4 4\ncpu-1 5 5 5 5\n",
                         ticks, TELEMETRY_MAX_CPUS);
    uint64_t sum = 0;
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        sum += ticks[i].total;
    ck_assert_uint_eq(ticks[TELEMETRY_MAX_CPUS - 1].total, 4);
    ck_assert_uint_eq(sum, 4);
}
END_TEST

START_TEST(many_packages_and_probes_are_no_overflow)
{
    for (int i = 0; i < 80; i++) {
        char path[128], id[64];
        snprintf(path, sizeof path, CPU "%d/topology/physical_package_id", i);
        snprintf(id, sizeof id, "%d\n", (80 - i) * 1000);
        set(path, id);
        machine.cpus[machine.count++] = i;
        snprintf(path, sizeof path, HWMON "%d/name", i);
        set(path, "coretemp\n");
        snprintf(path, sizeof path, HWMON "%d/temp1_input", i);
        set(path, "40000\n");
        snprintf(path, sizeof path, RAPL "%d/name", i);
        snprintf(id, sizeof id, "package-%d\n", (80 - i) * 1000);
        set(path, id);
        snprintf(path, sizeof path, RAPL "%d/energy_uj", i);
        set(path, "1000\n");
    }
    look();
    look_again();
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 40);
}
END_TEST

static void wait_for_version(struct telemetry *telemetry, uint64_t version)
{
    double begin_at = clock_seconds();
    while (telemetry_version(telemetry) < version) {
        ck_assert_double_lt(clock_seconds() - begin_at, 20);
        usleep(2000);
    }
}

START_TEST(the_thread_samples_a_given_system)
{
    static struct telemetry_sample sample;
    struct telemetry *telemetry;
    struct error err = ERROR_INIT;
    add_intel();
    set("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
    ck_assert_msg(telemetry_start(&telemetry, machine.folder, machine.cpus, 4, &err), "%s",
                  err.text);
    wait_for_version(telemetry, 1);
    telemetry_read(telemetry, &sample);
    machine.figures = sample.sensors;
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 71);
    ck_assert_uint_eq(sample.memory_used, 600 << 10);
    ck_assert_double_nan(telemetry_load(&sample, machine.cpus, 4));
    telemetry_stop(telemetry);
    ck_assert(!telemetry_start(&telemetry, "/no/such/folder", machine.cpus, 4, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "/no/such/folder"));
}
END_TEST

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    while (readdir(tasks))
        count++;
    closedir(tasks);
    return count;
}

/* A pipe that nobody writes to stands for a device that does not answer ... */
static void hang(const char *path)
{
    ck_assert_int_eq(unlinkat(machine.root, path, 0), 0);
    ck_assert_int_eq(mkfifoat(machine.root, path, 0600), 0);
}

/* ... until now. */
static void unhang(const char *path)
{
    int fd = openat(machine.root, path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

/* Does the last thread that was started sleep? */
static bool last_thread_sleeps(void)
{
    char path[64], text[64] = "";
    long last = 0;
    DIR *tasks = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        if (atol(task->d_name) > last)
            last = atol(task->d_name);
    closedir(tasks);
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", last);
    FILE *status = fopen(path, "r");
    ck_assert_ptr_nonnull(status);
    while (fgets(text, sizeof text, status) && strncmp(text, "State:", 6) != 0)
        ;
    fclose(status);
    return strstr(text, "\tS");
}

START_TEST(a_sensor_that_hangs_does_not_hold_up_the_end)
{
    static struct telemetry_sample sample;
    struct telemetry *telemetry;
    struct error err = ERROR_INIT;
    add_intel();
    hang(HWMON "1/temp1_input");
    ck_assert(telemetry_start(&telemetry, machine.folder, machine.cpus, 4, &err));
    int threads = count_threads();
    while (!last_thread_sleeps())
        usleep(1000);
    telemetry_read(telemetry, &sample);
    ck_assert_uint_eq(sample.version, 0);
    machine.figures = sample.sensors;
    assert_missing(SENSOR_TEMPERATURE, "not read yet");
    telemetry_stop(telemetry);
    ck_assert_int_eq(count_threads(), threads);
    unhang(HWMON "1/temp1_input");
    /* The thread ends and releases what it has. */
    for (double begin_at = clock_seconds(); count_threads() == threads; usleep(2000))
        ck_assert_double_lt(clock_seconds() - begin_at, 20);
}
END_TEST

START_TEST(old_samples_are_forgotten_until_the_system_answers)
{
    static struct telemetry_sample sample;
    struct telemetry *telemetry;
    struct error err = ERROR_INIT;
    add_intel();
    hang(HWMON "1/temp1_input");
    ck_assert(telemetry_start(&telemetry, machine.folder, machine.cpus, 4, &err));
    wait_for_version(telemetry, 1);
    telemetry_read(telemetry, &sample);
    machine.figures = sample.sensors;
    assert_missing(SENSOR_TEMPERATURE, "do not answer");
    assert_missing(SENSOR_CLOCK, "do not answer");
    assert_missing(SENSOR_PCIE_RX, "no PCIe link");
    unhang(HWMON "1/temp1_input");
    wait_for_version(telemetry, 2);
    telemetry_read(telemetry, &sample);
    machine.figures = sample.sensors;
    ck_assert_double_eq(figure(SENSOR_TEMPERATURE), 56);
    ck_assert_double_eq(figure(SENSOR_CLOCK), 2150);
    telemetry_stop(telemetry);
}
END_TEST

Suite *sensor_faults_suite(void)
{
    Suite *suite = suite_create("faults of sensors");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, machine_begin, machine_end);
    tcase_add_test(tests, what_only_root_may_read_is_said);
    tcase_add_test(tests, files_vanish_and_come_back);
    tcase_add_test(tests, garbage_is_not_believed);
    tcase_add_test(tests, trembling_figures_are_no_news);
    tcase_add_test(tests, all_of_many_cpus_get_their_turn);
    tcase_add_test(tests, cpus_beyond_the_last_are_ignored);
    tcase_add_test(tests, many_packages_and_probes_are_no_overflow);
    tcase_add_test(tests, the_thread_samples_a_given_system);
    tcase_add_test(tests, a_sensor_that_hangs_does_not_hold_up_the_end);
    tcase_add_test(tests, old_samples_are_forgotten_until_the_system_answers);
    suite_add_tcase(suite, tests);
    return suite;
}

/* SPDX-License-Identifier: MIT */
/* Sensors of CPUs, read from made-up trees of /sys and /proc. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/telemetry.h"
#include "tests/support.h"

#define CPU       "sys/devices/system/cpu/cpu"
#define HWMON     "sys/class/hwmon/hwmon"
#define ZONE      "sys/class/thermal/thermal_zone"
#define RAPL      "sys/class/powercap/intel-rapl:"
#define CGROUP    "sys/fs/cgroup"
#define MAX_ASKED 256

static struct {
    char *folder;
    int root;
    struct cpu_sensors *sensors;
    struct cpu_figures figures;
    double now;
    int cpus[MAX_ASKED];
    int count;
} machine;

static void begin(void)
{
    memset(&machine, 0, sizeof machine);
    machine.folder = temporary_folder();
    machine.root = open(machine.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(machine.root, 0);
    machine.now = 1000;
    cpu_figures_init(&machine.figures, "");
}

static void end(void)
{
    cpu_sensors_close(machine.sensors);
    close(machine.root);
    remove_tree(machine.folder);
}

static void set(const char *path, const char *text)
{
    put_file(machine.folder, path, text, strlen(text));
}

/* As sysfs does: who has it open gets nothing more out of it. */
static void vanish(const char *path)
{
    set(path, "");
    ck_assert_int_eq(unlinkat(machine.root, path, 0), 0);
}

/* CPUs 0 to count-1, packages one after the other. */
static void add_cpus(int count, int packages)
{
    for (int i = 0; i < count; i++) {
        char path[128], id[16];
        snprintf(path, sizeof path, CPU "%d/topology/physical_package_id", i);
        snprintf(id, sizeof id, "%d\n", i * packages / count);
        set(path, id);
        machine.cpus[i] = i;
    }
    machine.count = count;
}

static void look(void)
{
    machine.sensors = cpu_sensors_open(machine.root, machine.cpus, machine.count);
    ck_assert_ptr_nonnull(machine.sensors);
    cpu_sensors_update(machine.sensors, machine.now, &machine.figures);
}

static bool look_again(void)
{
    machine.now += 2;
    return cpu_sensors_update(machine.sensors, machine.now, &machine.figures);
}

static struct device_sensors device(int first, int count)
{
    struct device_sensors sensors;
    cpu_figures_of(&machine.figures, machine.cpus + first, count, &sensors);
    return sensors;
}

static double figure(enum sensor sensor)
{
    return device(0, machine.count).figure[sensor];
}

static void assert_missing(enum sensor sensor, const char *reason)
{
    struct device_sensors all = device(0, machine.count);
    if (sensor == SENSOR_THROTTLE)
        ck_assert(!all.throttle_known);
    else
        ck_assert_double_nan(all.figure[sensor]);
    ck_assert_msg(strstr(all.missing[sensor].text, reason) != NULL, "%s: %s", sensor_name(sensor),
                  all.missing[sensor].text);
}

static void add_intel(void)
{
    add_cpus(4, 2);
    set(HWMON "0/name", "nvme\n");
    set(HWMON "0/temp1_input", "91850\n");
    set(HWMON "0/temp1_label", "Package id 0\n");
    /* Found in the other order, and cores hotter than what the driver says of the package. */
    set(HWMON "1/name", "coretemp\n");
    set(HWMON "1/temp1_input", "71000\n");
    set(HWMON "1/temp1_label", "Package id 1\n");
    set(HWMON "2/name", "coretemp\n");
    set(HWMON "2/temp1_input", "56000\n");
    set(HWMON "2/temp1_label", "Package id 0\n");
    set(HWMON "2/temp2_input", "90000\n");
    set(HWMON "2/temp2_label", "Core 0\n");
    for (int zone = 0; zone < 2; zone++) {
        const char *const files[][2] = {{"name", zone ? "package-1\n" : "package-0\n"},
                                        {"energy_uj", zone ? "500000000\n" : "1000000\n"},
                                        {"max_energy_range_uj", "262143328850\n"},
                                        {"constraint_0_name", "short_term\n"},
                                        {"constraint_0_power_limit_uw", "420000000\n"},
                                        {"constraint_1_name", "long_term\n"},
                                        {"constraint_1_power_limit_uw", "350000000\n"}};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            char path[128];
            snprintf(path, sizeof path, RAPL "%d/%s", zone, files[i][0]);
            set(path, files[i][1]);
        }
    }
    set(RAPL "2/name", "psys\n");
    set(RAPL "2/energy_uj", "7\n");
    set("sys/class/powercap/intel-rapl:0:0/name", "core\n");
    set("sys/class/powercap/intel-rapl:0:0/energy_uj", "7\n");
    for (int cpu = 0; cpu < 4; cpu++) {
        char path[128], khz[16];
        snprintf(path, sizeof path, CPU "%d/cpufreq/scaling_cur_freq", cpu);
        snprintf(khz, sizeof khz, "%d\n", 2000000 + cpu * 100000);
        set(path, khz);
        snprintf(path, sizeof path, CPU "%d/cpufreq/cpuinfo_max_freq", cpu);
        set(path, "3500000\n");
        snprintf(path, sizeof path, CPU "%d/thermal_throttle/core_throttle_count", cpu);
        set(path, "3\n");
        snprintf(path, sizeof path, CPU "%d/thermal_throttle/package_throttle_count", cpu);
        set(path, "10\n");
    }
}

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

START_TEST(throttling_is_told_while_it_goes_on)
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
    assert_missing(SENSOR_THROTTLE, "only Intel");
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

START_TEST(a_sensor_that_hangs_does_not_hold_up_the_end)
{
    static struct telemetry_sample sample;
    struct telemetry *telemetry;
    struct error err = ERROR_INIT;
    add_intel();
    hang(HWMON "1/temp1_input");
    ck_assert(telemetry_start(&telemetry, machine.folder, machine.cpus, 4, &err));
    int threads = count_threads();
    usleep(20000);
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

int main(void)
{
    Suite *suite = suite_create("sensors");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, an_intel_server_tells_everything);
    tcase_add_test(tests, throttling_is_told_while_it_goes_on);
    tcase_add_test(tests, a_quota_of_any_group_around_is_told);
    tcase_add_test(tests, a_quota_is_told_without_heat_counters);
    tcase_add_test(tests, an_amd_cpu_tells_its_die);
    tcase_add_test(tests, sensors_without_a_number_go_by_order);
    tcase_add_test(tests, a_virtual_machine_tells_its_clock);
    tcase_add_test(tests, an_empty_system_tells_why);
    tcase_add_test(tests, a_small_board_tells_its_zone);
    tcase_add_test(tests, an_energy_counter_begins_again);
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
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

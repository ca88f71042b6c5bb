/* SPDX-License-Identifier: MIT */
#include "tests/fakes/made_up_machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support.h"

struct made_up_machine machine;

void machine_begin(void)
{
    memset(&machine, 0, sizeof machine);
    machine.folder = temporary_folder();
    machine.root = open(machine.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(machine.root, 0);
    machine.now = 1000;
    cpu_figures_init(&machine.figures, "");
}

void machine_end(void)
{
    cpu_sensors_close(machine.sensors);
    close(machine.root);
    remove_tree(machine.folder);
}

void set(const char *path, const char *text)
{
    put_file(machine.folder, path, text, strlen(text));
}

void vanish(const char *path)
{
    set(path, "");
    ck_assert_int_eq(unlinkat(machine.root, path, 0), 0);
}

void add_cpus(int count, int packages)
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

void look(void)
{
    machine.sensors = cpu_sensors_open(machine.root, machine.cpus, machine.count);
    ck_assert_ptr_nonnull(machine.sensors);
    cpu_sensors_update(machine.sensors, machine.now, &machine.figures);
}

bool look_again(void)
{
    machine.now += 2;
    return cpu_sensors_update(machine.sensors, machine.now, &machine.figures);
}

struct device_sensors device(int first, int count)
{
    struct device_sensors sensors;
    cpu_figures_of(&machine.figures, machine.cpus + first, count, &sensors);
    return sensors;
}

double figure(enum sensor sensor)
{
    return device(0, machine.count).figure[sensor];
}

void assert_missing(enum sensor sensor, const char *reason)
{
    struct device_sensors all = device(0, machine.count);
    if (sensor == SENSOR_THROTTLE)
        ck_assert(!all.throttle_known);
    else
        ck_assert_double_nan(all.figure[sensor]);
    ck_assert_msg(strstr(all.missing[sensor].text, reason) != NULL, "%s: %s", sensor_name(sensor),
                  all.missing[sensor].text);
}

void add_intel(void)
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

/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/temperature.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/telemetry/device_sensors.h"
#include "engine/telemetry/topology.h"

#define HWMON   "/sys/class/hwmon"
#define THERMAL "/sys/class/thermal"

/* Thousandths of a degree at which no CPU of any kind works. */
#define COLDEST (-100000)
#define HOTTEST 200000

/*
 * Drivers of hwmon that measure CPUs, and which of their inputs is the whole package, best first.
 * Tctl of some AMD CPUs is Tdie with something added for the fans. For drivers whose inputs have
 * no labels the first input is taken.
 */
static const struct driver {
    const char *name;
    const char *labels[2];
} drivers[] = {
    {"coretemp", {"Package id", "Physical id"}},
    {"k10temp", {"Tdie", "Tctl"}},
    {"zenpower", {"Tdie", "Tctl"}},
    {"k8temp", {"Core0 Temp", NULL}},
    {"via_cputemp", {NULL, NULL}},
};

/* Thermal zones by their type, which is also the name of their hwmon with '_' in place of '-'. */
static bool is_cpu_zone(const char *type)
{
    return strcmp(type, "x86_pkg_temp") == 0 || strcmp(type, "soc-thermal") == 0 ||
           strcmp(type, "soc_thermal") == 0 ||
           (strncmp(type, "cpu", 3) == 0 && strstr(type, "therm") != NULL);
}

static const struct driver *find_driver(const char *name)
{
    static const struct driver zone = {"", {NULL, NULL}};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (strcmp(drivers[i].name, name) == 0)
            return &drivers[i];
    return is_cpu_zone(name) ? &zone : NULL;
}

/* The smaller the better. Also gives the package by its number when the label does. */
static int rank_label(const struct driver *driver, const char *label, int *id)
{
    *id = -1;
    for (int i = 0; i < 2 && driver->labels[i]; i++) {
        size_t length = strlen(driver->labels[i]);
        if (strncmp(label, driver->labels[i], length) != 0)
            continue;
        if (sscanf(label + length, " %d", id) != 1)
            *id = -1;
        return i;
    }
    return 2;
}

static void add_probe(struct temperatures *temperatures, int package, const char *path)
{
    if (temperatures->count == SENSOR_MAX_PROBES)
        return;
    struct temperature_probe *probe = &temperatures->probe[temperatures->count++];
    sensor_file_init(&probe->file, "%s", path);
    probe->package = package;
}

static void find_in_hwmon(struct temperatures *temperatures, int root, int hwmon,
                          const struct topology *topology)
{
    char path[SENSOR_PATH_SIZE], word[64];
    int inputs[256];
    snprintf(path, sizeof path, HWMON "/hwmon%d/name", hwmon);
    if (sensor_read_word(root, path, word, sizeof word) != 0)
        return;
    const struct driver *driver = find_driver(word);
    if (!driver)
        return;
    snprintf(path, sizeof path, HWMON "/hwmon%d", hwmon);
    int count = sensor_list(root, path, "temp", "_input", inputs, 256);
    int best = -1, best_rank = 3, package = -1;
    for (int i = 0; i < count; i++) {
        int id;
        snprintf(path, sizeof path, HWMON "/hwmon%d/temp%d_label", hwmon, inputs[i]);
        sensor_read_word(root, path, word, sizeof word);
        int rank = rank_label(driver, word, &id);
        if (rank >= best_rank)
            continue;
        best = inputs[i];
        best_rank = rank;
        package = id >= 0 ? topology_package(topology, id) : -1;
    }
    if (best < 0)
        return;
    snprintf(path, sizeof path, HWMON "/hwmon%d/temp%d_input", hwmon, best);
    add_probe(temperatures, package, path);
}

static void find_in_zone(struct temperatures *temperatures, int root, int zone)
{
    char path[SENSOR_PATH_SIZE], type[64];
    snprintf(path, sizeof path, THERMAL "/thermal_zone%d/type", zone);
    if (sensor_read_word(root, path, type, sizeof type) != 0 || !is_cpu_zone(type))
        return;
    snprintf(path, sizeof path, THERMAL "/thermal_zone%d/temp", zone);
    add_probe(temperatures, -1, path);
}

/* Most drivers do not say which package they measure, but they are found in the packages' order. */
static void spread_probes(struct temperatures *temperatures, const struct topology *topology)
{
    if (temperatures->count != topology->count)
        return;
    for (int i = 0; i < temperatures->count; i++)
        if (temperatures->probe[i].package >= 0)
            return;
    for (int i = 0; i < temperatures->count; i++)
        temperatures->probe[i].package = i;
}

void temperatures_find(struct temperatures *temperatures, int root, const struct topology *topology)
{
    int numbers[256];
    temperatures_close(temperatures);
    int count = sensor_list(root, HWMON, "hwmon", "", numbers, 256);
    for (int i = 0; i < count; i++)
        find_in_hwmon(temperatures, root, numbers[i], topology);
    if (temperatures->count == 0) {
        count = sensor_list(root, THERMAL, "thermal_zone", "", numbers, 256);
        for (int i = 0; i < count; i++)
            find_in_zone(temperatures, root, numbers[i]);
    }
    spread_probes(temperatures, topology);
}

void temperatures_close(struct temperatures *temperatures)
{
    for (int i = 0; i < temperatures->count; i++)
        sensor_file_close(&temperatures->probe[i].file);
    temperatures->count = 0;
}

bool temperatures_read(struct temperatures *temperatures, int root, int packages,
                       struct cpu_figures *figures)
{
    double hottest[TELEMETRY_MAX_PACKAGES];
    bool changed = false;
    for (int i = 0; i < packages; i++)
        hottest[i] = NAN;
    struct sensor_reason *reason = &figures->missing[SENSOR_TEMPERATURE];
    sensor_say(reason, "no temperature of this CPU in " HWMON " or " THERMAL);
    temperatures->failing = true;
    for (int i = 0; i < temperatures->count; i++) {
        struct temperature_probe *probe = &temperatures->probe[i];
        int64_t millidegrees;
        int error = sensor_file_number(&probe->file, root, COLDEST, HOTTEST, &millidegrees);
        if (error) {
            sensor_say_error(reason, probe->file.path, error);
            continue;
        }
        temperatures->failing = false;
        for (int p = 0; p < packages; p++)
            if (probe->package < 0 || probe->package == p)
                hottest[p] = fmax(hottest[p], (double)millidegrees / 1000);
    }
    for (int i = 0; i < packages; i++)
        changed |= sensor_show(&figures->package[i].temperature_c, hottest[i], 1);
    return changed;
}

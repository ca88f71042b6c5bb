/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/cpu_sensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/telemetry/clock.h"
#include "engine/telemetry/power.h"
#include "engine/telemetry/temperature.h"
#include "engine/telemetry/throttle.h"
#include "engine/telemetry/topology.h"

/* Seconds between readings; updates come every second, not quite evenly. */
#define READ_EVERY 1.9
/* Readings after which to look again for what is missing or fails: a minute. */
#define FIND_EVERY 30

struct cpu_sensors {
    int root;
    int *cpus;
    int count;
    bool begun;
    double read_at;
    int readings; /* since the last look for sensors */
    struct topology topology;
    struct temperatures temperatures;
    struct powers powers;
    struct clocks clocks;
    struct throttles throttles;
};

void cpu_figures_init(struct cpu_figures *figures, const char *reason)
{
    static const struct package_sensors unknown = {NAN, NAN, NAN};
    memset(figures, 0, sizeof *figures);
    for (int i = 0; i < TELEMETRY_MAX_PACKAGES; i++)
        figures->package[i] = unknown;
    for (int i = 0; i < TELEMETRY_MAX_CPUS; i++)
        figures->clock_mhz[i] = figures->clock_max_mhz[i] = NAN;
    for (int i = 0; i < SENSOR_COUNT; i++)
        sensor_say(&figures->missing[i], "%s", reason);
    sensor_say(&figures->missing[SENSOR_PCIE_RX], "a CPU device has no PCIe link");
    figures->missing[SENSOR_PCIE_TX] = figures->missing[SENSOR_PCIE_RX];
}

static void add_package(const struct package_sensors *package, double *figure)
{
    figure[SENSOR_TEMPERATURE] = fmax(figure[SENSOR_TEMPERATURE], package->temperature_c);
    figure[SENSOR_POWER] += package->power_w;
    figure[SENSOR_POWER_LIMIT] += package->power_limit_w;
}

static double mean_clock(const float *clock, const int *cpus, int count)
{
    double sum = 0;
    int known = 0;
    for (int i = 0; i < count; i++) {
        if (cpus[i] < 0 || cpus[i] >= TELEMETRY_MAX_CPUS || isnan(clock[cpus[i]]))
            continue;
        sum += clock[cpus[i]];
        known++;
    }
    return known ? round(sum / known / 10) * 10 : NAN;
}

void cpu_figures_of(const struct cpu_figures *figures, const int *cpus, int count,
                    struct device_sensors *sensors)
{
    bool used[TELEMETRY_MAX_PACKAGES] = {false}, any = false, hot = false;
    device_sensors_init(sensors, "");
    memcpy(sensors->missing, figures->missing, sizeof sensors->missing);
    for (int i = 0; i < count; i++) {
        if (cpus[i] < 0 || cpus[i] >= TELEMETRY_MAX_CPUS)
            continue;
        used[figures->package_of[cpus[i]]] = any = true;
        hot |= figures->hot[cpus[i]];
    }
    double *figure = sensors->figure;
    if (any)
        figure[SENSOR_POWER] = figure[SENSOR_POWER_LIMIT] = 0;
    for (int i = 0; i < TELEMETRY_MAX_PACKAGES; i++)
        if (used[i])
            add_package(&figures->package[i], figure);
    figure[SENSOR_CLOCK] = mean_clock(figures->clock_mhz, cpus, count);
    figure[SENSOR_CLOCK_MAX] = mean_clock(figures->clock_max_mhz, cpus, count);
    sensors->throttle_known = figures->heat_known || figures->over_quota;
    snprintf(sensors->throttle, sizeof sensors->throttle, "%s%s%s", hot ? "thermal" : "",
             hot && figures->over_quota ? ", " : "", figures->over_quota ? "cgroup quota" : "");
}

struct cpu_sensors *cpu_sensors_open(int root, const int *cpus, int count)
{
    struct cpu_sensors *sensors = calloc(1, sizeof *sensors);
    if (!sensors)
        return NULL;
    sensors->root = root;
    sensors->cpus = calloc((size_t)count + 1, sizeof *sensors->cpus);
    sensors->throttles.heat_before = calloc((size_t)count + 1, sizeof(int64_t));
    if (!sensors->cpus || !sensors->throttles.heat_before) {
        cpu_sensors_close(sensors);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (cpus[i] < 0 || cpus[i] >= TELEMETRY_MAX_CPUS)
            continue;
        sensors->throttles.heat_before[sensors->count] = -1;
        sensors->cpus[sensors->count++] = cpus[i];
    }
    return sensors;
}

void cpu_sensors_close(struct cpu_sensors *sensors)
{
    if (!sensors)
        return;
    temperatures_close(&sensors->temperatures);
    powers_close(&sensors->powers);
    throttles_close(&sensors->throttles);
    free(sensors->cpus);
    free(sensors);
}

/* Drivers are loaded late, counters vanish, quotas are set: look again, but for what works. */
static void find(struct cpu_sensors *sensors, struct cpu_figures *figures)
{
    int root = sensors->root;
    if (!sensors->begun)
        topology_find(&sensors->topology, root, figures);
    if (!sensors->begun || sensors->temperatures.failing)
        temperatures_find(&sensors->temperatures, root, &sensors->topology);
    if (!sensors->begun || sensors->powers.failing)
        powers_find(&sensors->powers, root, &sensors->topology);
    clocks_find(&sensors->clocks, root, sensors->cpus, sensors->count);
    throttles_find_quotas(&sensors->throttles, root);
    sensors->begun = true;
}

bool cpu_sensors_update(struct cpu_sensors *sensors, double now, struct cpu_figures *figures)
{
    if (sensors->begun && now - sensors->read_at < READ_EVERY)
        return false;
    sensors->read_at = now;
    if (sensors->readings++ % FIND_EVERY == 0)
        find(sensors, figures);
    const int *cpus = sensors->cpus;
    int root = sensors->root, count = sensors->count, packages = sensors->topology.count;
    struct sensor_reason before[SENSOR_COUNT];
    memcpy(before, figures->missing, sizeof before);
    bool changed = temperatures_read(&sensors->temperatures, root, packages, figures);
    changed |= powers_read(&sensors->powers, root, packages, now, figures);
    changed |= clocks_read(&sensors->clocks, root, cpus, count, figures);
    changed |= throttles_read(&sensors->throttles, root, cpus, count, figures);
    for (int i = 0; i < SENSOR_COUNT; i++)
        changed |= strcmp(before[i].text, figures->missing[i].text) != 0;
    return changed;
}

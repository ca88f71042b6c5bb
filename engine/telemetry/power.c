/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/power.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/telemetry/device_sensors.h"
#include "engine/telemetry/topology.h"

#define POWERCAP "/sys/class/powercap"

/* Microwatts beyond what a package can use: the counter was reset, by suspending for instance. */
#define IMPOSSIBLE_POWER 2e10

/* The limit that holds over seconds; the other one is for peaks. -1: not known. */
static int64_t find_limit(struct powers *powers, int root, int zone)
{
    char path[SENSOR_PATH_SIZE], name[32];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, POWERCAP "/intel-rapl:%d/constraint_%d_name", zone, i);
        if (sensor_read_word(root, path, name, sizeof name) != 0 || strcmp(name, "long_term") != 0)
            continue;
        int64_t limit;
        snprintf(path, sizeof path, POWERCAP "/intel-rapl:%d/constraint_%d_power_limit_uw", zone,
                 i);
        int error = sensor_read_number(root, path, 1, (int64_t)IMPOSSIBLE_POWER, &limit);
        if (!error)
            return limit;
        sensor_say_error(&powers->no_limit, path, error);
        return -1;
    }
    sensor_say(&powers->no_limit, POWERCAP "/intel-rapl:%d has no long-term limit", zone);
    return -1;
}

static void find_zone(struct powers *powers, int root, int number, const struct topology *topology)
{
    char path[SENSOR_PATH_SIZE], name[32];
    int id;
    snprintf(path, sizeof path, POWERCAP "/intel-rapl:%d/name", number);
    /* "package-1", or "package-1-die-0" where a package has several; not "psys", the machine. */
    if (sensor_read_word(root, path, name, sizeof name) != 0 ||
        sscanf(name, "package-%d", &id) != 1 || powers->count == SENSOR_MAX_PROBES)
        return;
    int package = topology_package(topology, id);
    if (package < 0 && topology->count > 1)
        return;
    struct energy_zone *zone = &powers->zone[powers->count++];
    zone->package = package < 0 ? 0 : package;
    zone->before = -1;
    zone->limit = find_limit(powers, root, number);
    snprintf(path, sizeof path, POWERCAP "/intel-rapl:%d/max_energy_range_uj", number);
    if (sensor_read_number(root, path, 1, INT64_MAX, &zone->range) != 0)
        zone->range = 0;
    sensor_file_init(&zone->energy, POWERCAP "/intel-rapl:%d/energy_uj", number);
}

void powers_find(struct powers *powers, int root, const struct topology *topology)
{
    int numbers[SENSOR_MAX_PROBES];
    powers_close(powers);
    sensor_say(&powers->no_limit, "no zone of this CPU package in " POWERCAP);
    int count = sensor_list(root, POWERCAP, "intel-rapl:", "", numbers, SENSOR_MAX_PROBES);
    for (int i = 0; i < count; i++)
        find_zone(powers, root, numbers[i], topology);
}

void powers_close(struct powers *powers)
{
    for (int i = 0; i < powers->count; i++)
        sensor_file_close(&powers->zone[i].energy);
    powers->count = 0;
}

/* W since the last time; NAN: not known. */
static double zone_power(struct energy_zone *zone, int64_t energy, double seconds)
{
    int64_t before = zone->before;
    zone->before = energy;
    if (before < 0 || seconds <= 0)
        return NAN;
    /* One range may have gone by; at 2 s and the 65 kJ of the smallest counters never two. */
    double used = energy >= before ? (double)(energy - before)
                                   : (double)energy + ((double)zone->range - (double)before);
    double power = used / seconds;
    return power < 0 || power > IMPOSSIBLE_POWER ? NAN : power / 1e6;
}

/* All zones of a package together; one that is not known leaves the package unknown. */
struct package_sum {
    int zones;
    double power, limit;
};

static void sum_zone(struct powers *powers, struct energy_zone *zone, int root, double seconds,
                     struct package_sum *sum, struct sensor_reason *reason)
{
    int64_t energy;
    double power = NAN;
    int error = sensor_file_number(&zone->energy, root, 0, INT64_MAX, &energy);
    if (error) {
        sensor_say_error(reason, zone->energy.path, error);
        zone->before = -1;
    } else {
        powers->failing = false;
        power = zone_power(zone, energy, seconds);
        if (isnan(power))
            sensor_say(reason, "known with the next reading");
    }
    sum->power += power;
    sum->limit += zone->limit < 0 ? NAN : (double)zone->limit / 1e6;
    sum->zones++;
}

bool powers_read(struct powers *powers, int root, int packages, double now,
                 struct cpu_figures *figures)
{
    struct package_sum sums[TELEMETRY_MAX_PACKAGES] = {{.zones = 0}};
    bool changed = false;
    struct sensor_reason *reason = &figures->missing[SENSOR_POWER];
    sensor_say(reason, "no zone of this CPU package in " POWERCAP);
    figures->missing[SENSOR_POWER_LIMIT] = powers->no_limit;
    powers->failing = true;
    for (int i = 0; i < powers->count; i++)
        sum_zone(powers, &powers->zone[i], root, now - powers->read_at,
                 &sums[powers->zone[i].package], reason);
    powers->read_at = now;
    for (int i = 0; i < packages; i++) {
        struct package_sensors *package = &figures->package[i];
        changed |= sensor_show(&package->power_w, sums[i].zones ? sums[i].power : NAN, 1);
        changed |= sensor_show(&package->power_limit_w, sums[i].zones ? sums[i].limit : NAN, 1);
    }
    return changed;
}

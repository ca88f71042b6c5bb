/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/topology.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "engine/telemetry/sensor_file.h"

#define CPU_FOLDER "/sys/devices/system/cpu"

int topology_package(const struct topology *topology, int id)
{
    for (int i = 0; i < topology->count; i++)
        if (topology->id[i] == id)
            return i;
    return -1;
}

/* Keep the numbers ascending; those beyond the capacity count as the first package. */
static void add_package(struct topology *topology, int id)
{
    if (topology_package(topology, id) >= 0 || topology->count == TELEMETRY_MAX_PACKAGES)
        return;
    int place = topology->count++;
    for (; place > 0 && topology->id[place - 1] > id; place--)
        topology->id[place] = topology->id[place - 1];
    topology->id[place] = id;
}

void topology_find(struct topology *topology, int root, struct cpu_figures *figures)
{
    int cpus[TELEMETRY_MAX_CPUS], ids[TELEMETRY_MAX_CPUS];
    int count = sensor_list(root, CPU_FOLDER, "cpu", "", cpus, TELEMETRY_MAX_CPUS);
    *topology = (struct topology){.count = 0};
    for (int i = 0; i < count; i++) {
        char path[SENSOR_PATH_SIZE];
        int64_t id;
        snprintf(path, sizeof path, CPU_FOLDER "/cpu%d/topology/physical_package_id", cpus[i]);
        /* -1: the system does not know either. A CPU that is off has no such file. */
        bool known = sensor_read_number(root, path, 0, INT_MAX, &id) == 0;
        ids[i] = known ? (int)id : -1;
        if (known)
            add_package(topology, ids[i]);
    }
    if (topology->count == 0)
        topology->count = 1;
    memset(figures->package_of, 0, sizeof figures->package_of);
    for (int i = 0; i < count; i++) {
        int package = topology_package(topology, ids[i]);
        if (cpus[i] < TELEMETRY_MAX_CPUS && package >= 0)
            figures->package_of[cpus[i]] = (uint8_t)package;
    }
}

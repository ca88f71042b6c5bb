/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/telemetry/cpu_sensors.h"

/* Which package each CPU belongs to. */
struct topology {
    int id[TELEMETRY_MAX_PACKAGES]; /* the system's numbers of the packages, ascending */
    int count;                      /* at least 1 */
};

/* Also writes where each CPU belongs into the figures. */
void topology_find(struct topology *topology, int root, struct cpu_figures *figures);
/* Index of the package with this number; -1: none. */
int topology_package(const struct topology *topology, int id);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/telemetry/sensor_file.h"
#include "engine/telemetry/topology.h"

struct energy_zone {
    struct sensor_file energy;
    int package;
    int64_t range;  /* microjoules at which the counter begins again */
    int64_t before; /* microjoules; -1: not read yet */
    int64_t limit;  /* microwatts; -1: not known */
};

struct powers {
    struct energy_zone zone[SENSOR_MAX_PROBES];
    int count;
    double read_at;
    bool failing; /* none could be read */
    struct sensor_reason no_limit;
};

/* Look for the sensors; may be called again when the machine may have changed. */
void powers_find(struct powers *powers, int root, const struct topology *topology);
/* True: what can be seen of the figures has changed. */
bool powers_read(struct powers *powers, int root, int packages, double now,
                 struct cpu_figures *figures);
void powers_close(struct powers *powers);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/telemetry/cpu_sensors.h"

struct clocks {
    bool cpufreq; /* else /proc/cpuinfo */
    int next;     /* of `cpus` */
    int wait;     /* updates to go until /proc/cpuinfo is read again */
};

/* Look for the sensors; may be called again when the machine may have changed. */
void clocks_find(struct clocks *clocks, int root, const int *cpus, int count);
/* True: what can be seen of the figures has changed. */
bool clocks_read(struct clocks *clocks, int root, const int *cpus, int count,
                 struct cpu_figures *figures);

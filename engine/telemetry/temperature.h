/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/telemetry/sensor_file.h"
#include "engine/telemetry/topology.h"

struct temperature_probe {
    struct sensor_file file;
    int package; /* index; -1: it speaks for all of them */
};

struct temperatures {
    struct temperature_probe probe[SENSOR_MAX_PROBES];
    int count;
    bool failing; /* none could be read */
};

/* Look for the sensors; may be called again when the machine may have changed. */
void temperatures_find(struct temperatures *temperatures, int root,
                       const struct topology *topology);
/* True: what can be seen of the figures has changed. */
bool temperatures_read(struct temperatures *temperatures, int root, int packages,
                       struct cpu_figures *figures);
void temperatures_close(struct temperatures *temperatures);

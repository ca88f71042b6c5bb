/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/nvml/library.h"
#include "engine/nvml/nvml.h"
#include "engine/telemetry/power.h"
#include "spec/device_list.h"

/*
 * The counters of energy that belong to devices: of a GPU the driver's, which counts since the
 * driver was loaded; of CPU devices those of all CPU packages (RAPL), with whatever else computes
 * there. Read by one thread; a driver may hang in any of it.
 */
struct energy_counters {
    int root; /* a descriptor of the folder that holds /sys; -1: no CPU devices */
    struct powers packages;
    double packages_read; /* when, by clock_seconds() */
    struct nvml_api api;
    int gpu_count;
    struct nvml_handle *gpu[SPEC_MAX_DEVICES];
    uint64_t gpu_before[SPEC_MAX_DEVICES]; /* millijoules; UINT64_MAX: not read */
};

/*
 * Find those of the devices below `root` ("/" but in tests) and in the library. False: a device has
 * none that can be read, so their energy is not known. Release with energy_counters_close either
 * way.
 */
bool energy_counters_open(struct energy_counters *counters, const char *root,
                          const struct nvml_options *gpus, const struct device_id *ids, int count);
void energy_counters_close(struct energy_counters *counters);

/*
 * Joules since the last call, for all devices together; NAN: one of the counters could not be read
 * or has begun again, or this is the first call. Counters of packages begin again after some
 * minutes of full power: call it twice a minute.
 */
double energy_counters_read(struct energy_counters *counters);

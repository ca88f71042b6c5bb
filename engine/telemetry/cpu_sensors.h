/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/telemetry/device_sensors.h"

/*
 * Sensors of the CPUs as Linux shows them in /sys and /proc; every one of them may be absent. Used
 * by the telemetry thread alone, which may have to wait for a slow sensor.
 */

#define TELEMETRY_MAX_CPUS     1024 /* those with a higher number are not read */
#define TELEMETRY_MAX_PACKAGES 16

/* Of one package (socket); steps of 1 degree and 1 W; NAN: not known. */
struct package_sensors {
    double temperature_c, power_w, power_limit_w;
};

/* What can be seen of all CPUs. */
struct cpu_figures {
    struct package_sensors package[TELEMETRY_MAX_PACKAGES];
    uint8_t package_of[TELEMETRY_MAX_CPUS]; /* an index into `package` */
    float clock_mhz[TELEMETRY_MAX_CPUS];    /* steps of 10 MHz; NAN: not known */
    float clock_max_mhz[TELEMETRY_MAX_CPUS];
    bool hot[TELEMETRY_MAX_CPUS]; /* slowed down because of its temperature lately */
    bool heat_known;              /* the system counts that */
    bool over_quota;              /* held back by the quota of a control group lately */
    struct sensor_reason missing[SENSOR_COUNT];
};

/* Nothing is known, for this reason. */
void cpu_figures_init(struct cpu_figures *figures, const char *reason);

/*
 * What a device that owns `count` CPUs has: the hottest of its packages, power of all of them (they
 * may be shared with other devices), the mean of its CPUs' clocks.
 */
void cpu_figures_of(const struct cpu_figures *figures, const int *cpus, int count,
                    struct device_sensors *sensors);

struct cpu_sensors;

/*
 * Look for sensors below `root`, a descriptor of the folder that holds /sys and /proc, which must
 * stay open meanwhile. `cpus`: those of which clocks and throttling matter. NULL: memory ran out.
 */
struct cpu_sensors *cpu_sensors_open(int root, const int *cpus, int count);
void cpu_sensors_close(struct cpu_sensors *sensors);

/*
 * Bring the figures up to `now` (seconds of a monotonic clock), if it is time: sensors are read
 * every two seconds. True: what can be seen changed.
 */
bool cpu_sensors_update(struct cpu_sensors *sensors, double now, struct cpu_figures *figures);

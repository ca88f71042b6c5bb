/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * What the sensors of one device tell, whatever kind of device it is. A figure that nobody knows
 * stays NAN, and its reason says why in a few words for the user.
 */

enum sensor {
    SENSOR_TEMPERATURE, /* degrees Celsius */
    SENSOR_POWER,       /* W */
    SENSOR_POWER_LIMIT, /* W */
    SENSOR_CLOCK,       /* MHz */
    SENSOR_CLOCK_MAX,   /* MHz */
    SENSOR_PCIE_RX,     /* bytes a second */
    SENSOR_PCIE_TX,     /* bytes a second */
    SENSOR_FIGURES,     /* how many of the above are numbers */
    SENSOR_THROTTLE = SENSOR_FIGURES,
    SENSOR_COUNT
};

#define SENSOR_REASON_SIZE 144

/* A reason in a separate struct, so that it is copied by assignment. */
struct sensor_reason {
    char text[SENSOR_REASON_SIZE];
};

struct device_sensors {
    double figure[SENSOR_FIGURES]; /* NAN: not known */
    bool throttle_known;
    char throttle[48];                          /* what holds the clock back; "": nothing does */
    struct sensor_reason missing[SENSOR_COUNT]; /* of what is not known; "": nobody can tell */
};

/* Nothing is known, all for this one reason. */
void device_sensors_init(struct device_sensors *sensors, const char *reason);

/* What docs/protocol.md calls it: "temperature_c". */
const char *sensor_name(enum sensor sensor);

/* Round a figure to `step`, unless it only trembles around the one that is shown. True: it changed.
 */
bool sensor_show(double *shown, double value, double step);

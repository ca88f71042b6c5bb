/* SPDX-License-Identifier: MIT */
#include "engine/telemetry/device_sensors.h"

#include <math.h>
#include <stdio.h>

void device_sensors_init(struct device_sensors *sensors, const char *reason)
{
    *sensors = (struct device_sensors){.throttle_known = false};
    for (int i = 0; i < SENSOR_FIGURES; i++)
        sensors->figure[i] = NAN;
    for (int i = 0; i < SENSOR_COUNT; i++)
        snprintf(sensors->missing[i].text, sizeof sensors->missing[i].text, "%s", reason);
}

const char *sensor_name(enum sensor sensor)
{
    static const char *const names[SENSOR_COUNT] = {
        [SENSOR_TEMPERATURE] = "temperature_c", [SENSOR_POWER] = "power_w",
        [SENSOR_POWER_LIMIT] = "power_limit_w", [SENSOR_CLOCK] = "clock_mhz",
        [SENSOR_CLOCK_MAX] = "clock_max_mhz",   [SENSOR_PCIE_RX] = "pcie_rx",
        [SENSOR_PCIE_TX] = "pcie_tx",           [SENSOR_THROTTLE] = "throttle",
    };
    return names[sensor];
}

bool sensor_show(double *shown, double value, double step)
{
    if (isnan(value) && isnan(*shown))
        return false;
    /* Three quarters: a value that trembles around the middle of two steps stays on one. */
    if (fabs(value - *shown) < 0.75 * step)
        return false;
    *shown = isnan(value) ? NAN : round(value / step) * step;
    return true;
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/nvml/nvml.h"
#include "spec/device_list.h"

/*
 * The energy that devices use between two moments. A thread of its own reads their counters, at the
 * two moments and now and then between them; who asks waits for it as long as `patience`, so that a
 * driver that hangs costs a figure and no run.
 */

struct energy_options {
    const char *root; /* the folder that holds /sys; NULL: CPU devices have no counter */
    struct nvml_options gpus;
    double open_s, patience; /* seconds that opening and any other answer may take */
};

/* What the environment says: DPARTUI_ENERGY_ROOT (in place of "/"; "none"), and NVML's. */
struct energy_options energy_environment(void);

struct energy_meter;

/* NULL: the energy of one of the devices, or more, cannot be read; the functions below take that.
 * *hangs becomes true where the thread hangs in the driver, as of energy_meter_close. */
struct energy_meter *energy_meter_open(const struct energy_options *options,
                                       const struct device_id *ids, int count, bool *hangs);
/* False: the thread hangs in the driver and is left alone with what it uses, so that the process
 * must end by _exit. */
bool energy_meter_close(struct energy_meter *meter);

void energy_meter_begin(struct energy_meter *meter);
/* Joules since then; NAN: not known. */
double energy_meter_end(struct energy_meter *meter);

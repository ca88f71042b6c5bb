/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/device.h"
#include "engine/nvml/nvml.h"

/* The least used GPUs of a machine that others use, too: `--devices free:N`. */

/* The GPUs of the machine as the backend and the driver know them. */
struct gpus_known {
    const struct device_info *info;
    int count;
    const char *none; /* why there are none */
    const struct gpu_list *driver;
};

/*
 * The `wanted` GPUs that are used least, in the order of their indices, as a list that says so;
 * what this engine takes itself does not count. *why is a new line for the user, "free:2: cuda:1
 * (0% load, 0.4 GiB used), ...; left out: ...", which the caller frees; it may be NULL without
 * memory for it. ERROR_USAGE: there are not as many, or their load is not known.
 */
bool free_gpus_pick(const struct gpus_known *known, int wanted, struct device_list *list,
                    char **why, struct error *err);

/*
 * Choose the devices of a spec that asks for free ones, once more where they were chosen before; of
 * others nothing changes, and *why is NULL. `why` may be NULL. Waits some seconds for the driver.
 */
bool free_gpus_settle(struct nvml *nvml, struct spec *spec, char **why, struct error *err);

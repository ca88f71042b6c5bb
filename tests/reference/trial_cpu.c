/* SPDX-License-Identifier: MIT */
#include <check.h>

#include "engine/backends/registry.h"
#include "engine/device/cpu/core/device.h"
#include "tests/reference/trial.h"

/* CPU devices to try a network on: by themselves, since they need oneDNN, which not every machine
 * with a GPU has (tests/gpu/run). */

struct trial_device trial_cpu(int threads)
{
    const char *why = "";
    const struct trial_device device = {
        .backend = backend_find(DEVICE_CPU, &why),
        .options = {.id = {DEVICE_CPU, 0}, .threads = threads},
    };
    ck_assert_msg(device.backend != NULL, "%s", why);
    return device;
}

static void by_layers(struct device *device)
{
    device->no_lanes = true;
}

struct trial_device trial_cpu_by_layers(int threads)
{
    struct trial_device device = trial_cpu(threads);
    device.prepare = by_layers;
    return device;
}

static void by_own_kernels(struct device *device)
{
    device->no_lanes = device->own_kernels = true;
}

struct trial_device trial_cpu_by_own_kernels(int threads)
{
    struct trial_device device = trial_cpu(threads);
    device.prepare = by_own_kernels;
    return device;
}

/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "engine/device/cpu/backend.h"

/* In place of the CPU backend where oneDNN is missing: no CPU devices. */

static const char missing[] = "built without oneDNN";

static bool enumerate(struct device_info *list, int capacity, int *count, char *why,
                      size_t why_size, struct error *err)
{
    (void)list;
    (void)capacity;
    (void)err;
    *count = 0;
    snprintf(why, why_size, "%s", missing);
    return true;
}

static bool open_none(const struct device_options *options, struct device **out, struct error *err)
{
    (void)options;
    *out = NULL;
    return error_set(err, ERROR_FAILED, "no CPU devices: %s", missing);
}

static void close_none(struct device *device)
{
    (void)device;
}

const struct backend cpu_backend = {
    .kind = DEVICE_CPU, .enumerate = enumerate, .open = open_none, .close = close_none};

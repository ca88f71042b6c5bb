/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "spec/spec.h"

/*
 * How devices that compute slices of one network (engine/net/slice.h) exchange values. All of them
 * do the same in the same order, and a pass of one begins when all have ended the one before.
 */
struct device_exchange {
    int count, index; /* devices; which of them this one is */
    /* CPU devices: memory for all channels of what operation `origin` makes, `row` bytes for each
     * row of any pass, which is one for all devices. While plans are made. */
    void *(*values)(void *context, int origin, size_t row, struct error *err);
    /* A barrier. *all[i] is what device i has offered here, until the next call; both may be NULL.
     * Fails when another device failed or the run is being ended. */
    bool (*wait)(void *context, const void *own, const void *const **all, struct error *err);
    /* GPUs: do the next two serve? They queue what those of struct collective do; otherwise, and
     * where this is NULL, devices read each other's memory. The same for all passes of a run. */
    bool (*collective)(void *context);
    bool (*gather)(void *context, void *parts, size_t bytes, struct error *err);
    bool (*scatter)(void *context, void *parts, size_t count, enum number_type type,
                    struct error *err);
    void *context;
};

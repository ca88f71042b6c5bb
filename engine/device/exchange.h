/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Where devices that compute slices of one network (engine/net/slice.h) meet. All of them do the
 * same in the same order, and a pass of one begins when all have ended the one before.
 */
struct device_exchange {
    int count; /* devices */
    /* Host memory for all channels of what operation `origin` makes, `row` numbers for each row of
     * any pass, which is one for all devices. While plans are made. */
    float *(*values)(void *context, int origin, size_t row, struct error *err);
    /* Wait until all have come. *all[i] is what device i has brought along, until the next call;
     * both may be NULL. Fails when another device failed or the run is being ended. */
    bool (*meet)(void *context, const float *own, const float *const **all, struct error *err);
    void *context;
};

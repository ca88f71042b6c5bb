/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_REPLICA_LAYOUT_H
#define DPARTUI_ENGINE_DEVICE_CPU_REPLICA_LAYOUT_H

#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/parameters.h"

struct replica_sizes {
    size_t trained, statistics; /* floats */
};

/*
 * Give every parameter its place: trained ones in the order in which the backward pass completes
 * their gradients. Convolution weights get the format that the library's forward pass favours for
 * a fixed, nominal number of rows, so that the layout does not depend on the batch; plans whose
 * primitives differ reorder.
 */
bool replica_lay_out(struct device *device, struct cpu_replica *replica,
                     struct replica_sizes *sizes, struct error *err);

/* The value that the linear operation `op` reads. */
const struct value *replica_linear_input(const struct cpu_replica *replica, int op);

#endif

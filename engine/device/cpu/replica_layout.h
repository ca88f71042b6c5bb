/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/device.h"
#include "engine/device/cpu/core/parameters.h"

/*
 * Give every parameter its place and format. Convolution weights get the format that the library's
 * forward pass favours for a fixed, nominal number of rows, so that the layout does not depend on
 * the batch; plans whose primitives differ reorder.
 */
bool replica_lay_out(struct device *device, struct cpu_replica *replica, struct error *err);

/* The value that the linear operation `op` reads. */
const struct value *replica_linear_input(const struct cpu_replica *replica, int op);

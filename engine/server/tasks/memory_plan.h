/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "engine/net/net.h"
#include "engine/train/pipeline/layout.h"
#include "spec/spec.h"

/*
 * What a run would take on each of its devices, from the devices' own plans: for the full
 * mini-batch, the short one at the end of an epoch, and evaluation. Nothing is trained, but each
 * device is opened and planned, so this is for a separate thread. The spec's devices and threads
 * are resolved. `rows` and `test_rows` of the data may be 0: not known, then there is no short
 * mini-batch. `layout`: read of a pipeline, whose passes are over micro-batches. *out is
 * a new array, one object per device.
 */
bool memory_plan(const struct spec *spec, const struct net *net,
                 const struct pipeline_layout *layout, long rows, long test_rows, json_t **out,
                 struct error *err);

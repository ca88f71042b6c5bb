/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "engine/train/memory/plan.h"

/* What memory_plan() has found, as the protocol's `model` gives it: a new array, an object for each
 * device. NULL: no memory. */
json_t *memory_json(const struct spec *spec, const struct memory_share *shares);

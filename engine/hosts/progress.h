/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>

#include "engine/train/run/run.h"

/* A run's progress as the first of its hosts tells the engine. */

/* NULL: memory ran out. */
json_t *progress_to_json(const struct run_progress *progress);

/* Back from that, for the devices of this list; `devices` has room for them. False: it is no
 * progress of such a run. */
bool progress_from_json(const json_t *object, const struct device_list *list,
                        struct run_device *devices, struct run_progress *progress);

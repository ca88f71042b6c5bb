/* SPDX-License-Identifier: MIT */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "engine/train/profile/metrics.h"
#include "engine/train/step/best.h"
#include "engine/train/step/workload.h"

/* What events say of the run's speed, of validation rows, and of what depends on them. False:
 * memory ran out. */

/* Of an epoch. */
bool outcome_add_epoch(const struct workload *work, const struct metrics *metrics, json_t *event);
/* Of the end: also why it came before the last epoch, and which weights were tested: those of the
 * best epoch, where they were saved, or of the last. */
bool outcome_add_end(const struct workload *work, const struct metrics *metrics,
                     const struct best *best, const struct spec *spec, json_t *event);

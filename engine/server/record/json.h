/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/server/record/record.h"

/* The run object of docs/protocol.md; NULL: memory ran out. */
json_t *record_json(const struct record *record);
/* The same with "spec", "epochs", the devices' figures, "points", "retunes" and, of a run
 * that was profiled, "profile", of a pipeline "timeline". */
json_t *record_json_full(const struct record *record);
/* The points of its curve, an array of "point" events. NULL: memory ran out. */
json_t *record_points_json(const struct record *record);
/* The "run" member of a state. */
json_t *record_json_state(const struct record *record);

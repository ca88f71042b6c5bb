/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* Numbers of the whole network, in canonical order, to a rank's replica and back: of a slice those
 * that it has; the others stay as they are. On the rank's thread. */

bool values_import_weights(struct rank *rank, const struct weights *weights, struct error *err);
bool values_export_weights(struct rank *rank, struct weights *weights, struct error *err);
/* An array of the optimizer's state. */
bool values_import_state(struct rank *rank, int state, const float *values, struct error *err);
bool values_export_state(struct rank *rank, int state, float *values, struct error *err);

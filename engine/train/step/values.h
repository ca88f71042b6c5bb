/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* Numbers of the whole network, in canonical order, to an arena of a rank's replica and back: those
 * that it has; the others stay as they are. On the rank's thread. */
bool values_import(struct rank *rank, enum replica_arena arena, const float *values,
                   struct error *err);
bool values_export(struct rank *rank, enum replica_arena arena, float *values, struct error *err);

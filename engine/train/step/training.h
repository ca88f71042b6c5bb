/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* Tasks of a rank in training (rank.h): do the newest step, or queue it; take the oldest one. */
bool rank_step(void *context, int index, struct error *err);
bool rank_take(void *context, int index, struct error *err);

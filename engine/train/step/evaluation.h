/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_STEP_EVALUATION_H
#define DPARTUI_ENGINE_TRAIN_STEP_EVALUATION_H

#include "engine/train/step/ranks.h"

/* The task of a rank (rank.h) that runs its part of the test rows: rank->result has the sums. */
bool rank_evaluate(void *context, int index, struct error *err);

#endif

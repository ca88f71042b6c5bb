/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* The task of a rank (rank.h) that runs its part of the test rows: rank->result has the sums,
 * rank->confusion what was taken for what, where ranks->predictions is set. */
bool rank_evaluate(void *context, int index, struct error *err);

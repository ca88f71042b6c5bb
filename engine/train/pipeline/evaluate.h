/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/pipeline/pipeline.h"

/* In an evaluation one batch is written while the one before is read. */
enum { EVALUATION_SLOTS = 2 };

/* The task of a stage that takes part in running the test rows: the last stage has the sums, as
 * rank_evaluate leaves them. */
bool stage_evaluate(void *context, int index, struct error *err);

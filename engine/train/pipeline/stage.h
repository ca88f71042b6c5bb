/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/pipeline/pipeline.h"

/* The tasks of a rank that is a stage: strategy_pipeline of pipeline.h. */
bool stage_prepare(void *context, int index, struct error *err);
/* Of evaluations: of other rows. */
bool stage_change_shares(void *context, int index, struct error *err);
bool stage_step(void *context, int index, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/run/state.h"

/* All that must be there before the first step; called once. */
bool run_prepare(struct run *run, struct error *err);
/* Free the run, when no thread uses it any more. */
void run_release(struct run *run);

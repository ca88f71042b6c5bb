/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/pass/plan.h"

/* Cut the plan's steps where buckets end, and a stage's where it meets others. */
bool cuda_segments_make(struct plan *plan, struct error *err);
void cuda_segments_drop(struct plan *plan); /* the captured graphs: addresses have changed */
/* at_rest: the device does not run their graphs; else these are left. */
void cuda_segments_free(struct plan *plan, bool at_rest);
/* In the middle of a step, in place of run(plan, layer, what, err): where the step is being
 * captured, graphs are cut there and it is called between them, each time. */
bool cuda_segments_cut(struct plan *plan,
                       bool (*run)(struct plan *plan, const void *layer, const void *what,
                                   struct error *err),
                       const void *layer, const void *what, struct error *err);
/* Queue all steps of one of plan->passes, and report each bucket after the last step that writes to
 * it. */
bool cuda_segments_run(struct plan *plan, struct segments *pass, struct error *err);

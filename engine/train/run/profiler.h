/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/step/ranks.h"

/* What is measured when, in a run with `profile`. */
struct profiler {
    struct profile *profile; /* NULL: without */
    int unprofiled_left;     /* steps that run as without it, this one included */
};

/* Before the devices make their plans. */
bool profiler_create(struct profiler *profiler, struct ranks *ranks, struct error *err);
void profiler_free(struct profiler *profiler);
/* Before and after each step. */
bool profiler_before_step(struct profiler *profiler, struct ranks *ranks, long steps_left,
                          struct error *err);
void profiler_after_step(struct profiler *profiler, const struct ranks *ranks, double joined,
                         const struct step_part *parts);
/* After the last step. False: memory ran out. */
bool profiler_end(struct profiler *profiler, struct ranks *ranks, struct error *err);

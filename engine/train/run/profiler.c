/* SPDX-License-Identifier: MIT */
#include "engine/train/run/profiler.h"

#include <stdlib.h>

#include "base/clock.h"
#include "engine/train/step/plans.h"

bool profiler_create(struct profiler *profiler, struct ranks *ranks, struct error *err)
{
    struct profile *profile = calloc(1, sizeof *profile);
    if (!profile)
        return error_memory(err, "the profile");
    for (int i = 0; i < ranks->count; i++) {
        const struct backend *backend = ranks->rank[i].backend;
        profile->devices[i].passes_only = !backend || !backend->plan_profile;
    }
    profiler->profile = ranks->profile = profile;
    return true;
}

void profiler_free(struct profiler *profiler)
{
    if (profiler->profile)
        profile_free(profiler->profile);
    free(profiler->profile);
}

/* All that plans have measured so far. */
static bool take_plans(struct ranks *ranks, struct error *err)
{
    for (int i = 0; i < ranks->count; i++)
        if (!plans_take_times(&ranks->rank[i], err))
            return false;
    return true;
}

static bool forget(struct profiler *profiler, struct ranks *ranks, struct error *err)
{
    if (!take_plans(ranks, err))
        return false;
    profile_clear(profiler->profile);
    return true;
}

/*
 * Where a profile slows steps down some run without it first: one in which passes become what they
 * are without (CUDA graphs), and those that are measured. Not in runs of a few steps.
 */
enum { UNPROFILED = 1 + 3, STEPS_WORTH_IT = 2 * UNPROFILED };

static int unprofiled_wanted(const struct ranks *ranks, long steps_left)
{
    bool slows = false;
    for (int i = 0; i < ranks->count; i++)
        slows = slows || (ranks->rank[i].backend && ranks->rank[i].backend->profile_slows);
    return slows && steps_left >= STEPS_WORTH_IT ? UNPROFILED : 0;
}

bool profiler_before_step(struct profiler *profiler, struct ranks *ranks, long steps_left,
                          struct error *err)
{
    const struct profile *profile = profiler->profile;
    if (!profile)
        return true;
    if (profiler->unprofiled_left > 0 && --profiler->unprofiled_left == 0)
        return forget(profiler, ranks, err); /* what other devices have measured */
    /* The first step touches all memory for the first time: of several it does not count. */
    if (profile->left_out > 0 || profile->steps == 0)
        return true;
    profiler->unprofiled_left = unprofiled_wanted(ranks, steps_left);
    return forget(profiler, ranks, err);
}

void profiler_after_step(struct profiler *profiler, const struct ranks *ranks, double joined,
                         const struct step_part *parts)
{
    struct profile *profile = profiler->profile;
    if (!profile)
        return;
    const double begin = ranks->step.begin_s, end = clock_seconds();
    if (profiler->unprofiled_left == 0) {
        profile_step(profile, &(struct profile_moments){begin, joined, end}, parts, ranks->count);
        return;
    }
    profile->left_out++;
    if (profiler->unprofiled_left == UNPROFILED || ranks->step.size != PASS_FULL)
        return;
    profile->unprofiled_steps++;
    profile->unprofiled_s += end - begin;
}

bool profiler_end(struct profiler *profiler, struct ranks *ranks, struct error *err)
{
    struct profile *profile = profiler->profile;
    if (!profile || profile->steps == 0)
        return true;
    for (int i = 0; i < ranks->count; i++) {
        profile->devices[i].flops_limit = ranks->rank[i].facts.flops_limit;
        profile->devices[i].bytes_limit = ranks->rank[i].facts.bytes_limit;
    }
    return take_plans(ranks, err);
}

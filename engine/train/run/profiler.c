/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "engine/train/run/run_state.h"

/* A run that tells where its time goes (`profile`): what is taken when. */

bool run_begin_profile(struct run *run, struct error *err)
{
    if (!run->spec.profile)
        return true;
    run->profile = calloc(1, sizeof *run->profile);
    if (!run->profile)
        return error_memory(err, "the profile");
    for (int i = 0; i < run->rank_count; i++)
        run->profile->devices[i].passes_only = !run->ranks[i].backend->plan_profile;
    return true;
}

/* All that the plans of a device have measured so far. */
static bool take_plans(struct rank *rank, struct error *err)
{
    for (int i = 0; i < PLANS_KEPT; i++)
        if (rank->kept[i].plan && !rank_profile_plan(rank, rank->kept[i].plan, err))
            return false;
    return true;
}

bool rank_profile_plan(struct rank *rank, struct plan *plan, struct error *err)
{
    struct profile *profile = rank->run->profile;
    int count;
    if (!profile || profile->devices[rank->index].passes_only)
        return true;
    struct plan_time *times = rank->backend->plan_profile(plan, &count);
    return !times || profile_take(&profile->devices[rank->index], times, count, err);
}

static bool forget(struct run *run, struct error *err)
{
    for (int i = 0; i < run->rank_count; i++)
        if (!take_plans(&run->ranks[i], err))
            return false;
    profile_clear(run->profile);
    return true;
}

/*
 * Where a profile slows steps down some run without it first: one in which passes become what they
 * are without (CUDA graphs), and those that are looked at. Not in runs of a few steps.
 */
enum { UNPROFILED = 1 + 3, STEPS_WORTH_IT = 2 * UNPROFILED };

static int unprofiled_wanted(const struct run *run)
{
    bool slows = false;
    for (int i = 0; i < run->rank_count; i++)
        slows = slows || run->ranks[i].backend->profile_slows;
    return slows && run->total_steps - run->figures.steps >= STEPS_WORTH_IT ? UNPROFILED : 0;
}

bool run_profile_begin(struct run *run, struct error *err)
{
    struct profile *profile = run->profile;
    if (!profile)
        return true;
    if (run->unprofiled_left > 0 && --run->unprofiled_left == 0)
        return forget(run, err); /* what other devices took their times of */
    /* The first step touches all memory for the first time: of several it does not count. */
    if (profile->left_out > 0 || profile->steps == 0)
        return true;
    run->unprofiled_left = unprofiled_wanted(run);
    return forget(run, err);
}

static void note_unprofiled(struct run *run, double seconds)
{
    run->profile->left_out++;
    if (run->unprofiled_left == UNPROFILED || run->step.size != PASS_FULL)
        return;
    run->profile->unprofiled_steps++;
    run->profile->unprofiled_s += seconds;
}

void run_profile_step(struct run *run, double begin, double joined, const struct step_part *parts)
{
    if (!run->profile)
        return;
    double end = clock_seconds();
    if (run->unprofiled_left > 0)
        note_unprofiled(run, end - begin);
    else
        profile_step(run->profile, &(struct profile_moments){begin, joined, end}, parts,
                     run->rank_count);
}

static void note_limits(struct run *run)
{
    for (int i = 0; i < run->rank_count; i++) {
        run->profile->devices[i].flops_limit = run->ranks[i].facts.flops_limit;
        run->profile->devices[i].bytes_limit = run->ranks[i].facts.bytes_limit;
    }
}

bool run_end_profile(struct run *run, struct error *err)
{
    if (!run->profile || run->profile->steps == 0)
        return true;
    for (int i = 0; i < run->rank_count; i++)
        if (!take_plans(&run->ranks[i], err))
            return false;
    note_limits(run);
    return report_profile(run, err);
}

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "engine/train/run_state.h"

/* A run that tells where its time goes (`profile`): what is taken when. */

bool run_begin_profile(struct run *run, struct error *err)
{
    if (!run->spec.profile)
        return true;
    run->profile = calloc(1, sizeof *run->profile);
    if (!run->profile)
        return error_memory(err, "the profile");
    for (int i = 0; i < run->member_count; i++)
        run->profile->devices[i].passes_only = !run->members[i].backend->plan_profile;
    return true;
}

/* All that the plans of a device have measured so far. */
static bool take_plans(struct member *member, struct error *err)
{
    for (int i = 0; i < PLANS_KEPT; i++)
        if (member->kept[i].plan && !member_profile_plan(member, member->kept[i].plan, err))
            return false;
    return true;
}

bool member_profile_plan(struct member *member, struct plan *plan, struct error *err)
{
    struct profile *profile = member->run->profile;
    int count;
    if (!profile || profile->devices[member->index].passes_only)
        return true;
    struct plan_time *times = member->backend->plan_profile(plan, &count);
    return !times || profile_take(&profile->devices[member->index], times, count, err);
}

bool run_profile_begin(struct run *run, struct error *err)
{
    /* The first step touches all memory for the first time: of several it does not count. */
    if (!run->profile || run->profile->left_out > 0 || run->profile->steps == 0)
        return true;
    for (int i = 0; i < run->member_count; i++)
        if (!take_plans(&run->members[i], err))
            return false;
    profile_clear(run->profile);
    return true;
}

void run_profile_step(struct run *run, double begin, double joined, const struct step_part *parts)
{
    if (run->profile)
        profile_step(run->profile, &(struct profile_moments){begin, joined, clock_seconds()}, parts,
                     run->member_count);
}

bool run_end_profile(struct run *run, struct error *err)
{
    if (!run->profile || run->profile->steps == 0)
        return true;
    for (int i = 0; i < run->member_count; i++)
        if (!take_plans(&run->members[i], err))
            return false;
    return report_profile(run, err);
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

/* How the devices of a run keep their replicas equal: chosen once, when all are prepared. */

static void make_group(struct run *run)
{
    for (int i = 0; i < run->rank_count; i++) {
        const struct rank *rank = &run->ranks[i];
        run->ends[i] = (struct sync_end){
            .backend = rank->backend, .device = rank->device, .replica = run->replicas[i]};
    }
    run->group = (struct sync_group){
        .size = run->rank_count,
        .ends = run->ends,
        .names = run->names,
        .barrier = run->barrier,
        .method = run->spec.sync,
        .bucket_ends = run->ranks[0].bucket_ends,
        .bucket_count = run->ranks[0].bucket_count,
        .limit_s = run->ranks[0].options.watch.limit_s,
        .sync_bn = run->spec.sync_bn,
    };
}

static const struct error *refusal(const struct run *run)
{
    for (int i = 0; i < run->rank_count; i++)
        if (run->refusals[i].kind != ERROR_NONE)
            return &run->refusals[i];
    return NULL;
}

/* A collective of the devices may turn out not to serve only when it is tried; the host must. */
static bool join(struct run *run, bool *joined, struct error *err)
{
    for (int i = 0; i < run->rank_count; i++)
        run->refusals[i] = (struct error)ERROR_INIT;
    if (!run_command(run, rank_join, 0, err))
        return false;
    const struct error *why = refusal(run);
    *joined = !why;
    if (*joined)
        return true;
    *err = *why;
    if (run->group.transport != SYNC_COLLECTIVE || !run_command(run, rank_leave, 0, err))
        return false;
    return true;
}

bool run_connect(struct run *run, struct error *err)
{
    struct error reason = ERROR_INIT;
    bool joined = false;
    int tried = 0;
    make_group(run);
    while (!joined) {
        sync_close(&run->group);
        if (!sync_choose(&run->group, &tried, &reason, err))
            return false;
        if (run->rank_count == 1)
            return true;
        if (!join(run, &joined, &reason)) {
            *err = reason;
            return false;
        }
    }
    return true;
}

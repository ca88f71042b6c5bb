/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/sync.h"

#include <string.h>

#include "base/clock.h"

/* Device 0 sums all gradients and everybody takes the result from there. */
static bool after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    const float *sums = group->ends[0].grads;
    double inner_wait_s = 0, begin = clock_seconds();
    if (!sync_stage_grads(group, rank, err))
        return false;
    times->moving_s += clock_seconds() - begin;
    if (!barrier_wait(group->barrier, rank, &times->wait_s, err))
        return false;
    begin = clock_seconds();
    if (rank == 0)
        sync_sum_gradients(group, 1, 0, group->count);
    if (!barrier_wait(group->barrier, rank, &inner_wait_s, err))
        return false;
    if (rank != 0)
        memcpy(group->ends[rank].grads, sums, group->count * sizeof *sums);
    bool ok = sync_unstage_grads(group, rank, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm sync_reduce_broadcast = {
    .description = "device 0 sums the gradients, the others copy the result",
    .after = after,
};

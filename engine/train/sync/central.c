/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/sync.h"

#include "base/clock.h"

/*
 * The parameters live on device 0, as in PyTorch's DataParallel: sent out before every step,
 * gradients gathered after it, and device 0 alone updates: only after it has met everybody in the
 * step's `after`.
 */

static bool after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    double begin = clock_seconds();
    if (!sync_stage_grads(group, rank, err))
        return false;
    times->moving_s += clock_seconds() - begin;
    if (!barrier_wait(group->barrier, rank, &times->wait_s, err))
        return false;
    begin = clock_seconds();
    bool ok = true;
    if (rank == 0) {
        sync_sum_gradients(group, 1, 0, group->count);
        ok = sync_unstage_grads(group, 0, err);
    }
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm sync_central = {
    .description = "parameters sent out from device 0, gradients summed there",
    .before = sync_fetch_before,
    .after = after,
    .one_updates = true,
};

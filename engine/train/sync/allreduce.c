/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/sync.h"

#include "base/clock.h"

/*
 * Reduce-scatter and all-gather (Rabenseifner's all-reduce) in one, as memory is shared: rank i
 * sums slice i of all gradients and puts each block of sums in the place of all of them while it is
 * in the cache.
 */

/* Where slice `i` begins; slices are whole cache lines, so that no line has two writers. */
static size_t slice_begin(const struct sync_group *group, int i)
{
    size_t lines = group->count / 16;
    if (i == group->size)
        return group->count;
    return 16 * (lines * (size_t)i / (size_t)group->size);
}

/* No barrier behind the second: the next backward pass starts after every rank has finished its
 * step. */
static bool after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    double inner_wait_s = 0, begin = clock_seconds();
    if (!sync_stage_grads(group, rank, err))
        return false;
    times->moving_s += clock_seconds() - begin;
    if (!barrier_wait(group->barrier, rank, &times->wait_s, err))
        return false;
    begin = clock_seconds();
    sync_sum_gradients(group, group->size, slice_begin(group, rank), slice_begin(group, rank + 1));
    if (!barrier_wait(group->barrier, rank, &inner_wait_s, err))
        return false;
    bool ok = sync_unstage_grads(group, rank, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm sync_allreduce = {
    .description = "each device sums a slice, in device order, for all",
    .after = after,
};

/* SPDX-License-Identifier: MIT */
#include "engine/train/sync.h"

#include <string.h>

#include "base/clock.h"

/*
 * Reduce-scatter, then all-gather (Rabenseifner's all-reduce, here over shared memory): member i
 * sums slice i of all gradients, then everybody fetches the other slices.
 */

/* Where slice `i` begins; slices are whole cache lines, so that no line has two writers. */
static size_t slice_begin(const struct sync_group *group, int i)
{
    size_t lines = group->count / 16;
    if (i == group->size)
        return group->count;
    return 16 * (lines * (size_t)i / (size_t)group->size);
}

static void gather(const struct sync_group *group, int member)
{
    float *grads = group->ends[member].grads;
    for (int i = 0; i < group->size; i++) {
        size_t begin = slice_begin(group, i), end = slice_begin(group, i + 1);
        if (i != member)
            memcpy(grads + begin, group->ends[i].grads + begin, (end - begin) * sizeof *grads);
    }
}

/*
 * No barrier behind the gathering: slices of others are read only here, the optimizer leaves
 * gradients alone, and the next backward pass starts after every member has finished its step.
 */
static bool after(struct sync_group *group, int member, struct sync_times *times, struct error *err)
{
    double inner_wait_s = 0, begin = clock_seconds();
    if (!sync_stage_grads(group, member, err))
        return false;
    times->moving_s += clock_seconds() - begin;
    if (!rendezvous_wait(group->meeting, member, &times->wait_s, err))
        return false;
    begin = clock_seconds();
    sync_sum_gradients(group, member, slice_begin(group, member), slice_begin(group, member + 1));
    if (!rendezvous_wait(group->meeting, member, &inner_wait_s, err))
        return false;
    gather(group, member);
    bool ok = sync_unstage_grads(group, member, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm sync_allreduce = {
    .description = "reduce-scatter in device order, then all-gather",
    .after = after,
};

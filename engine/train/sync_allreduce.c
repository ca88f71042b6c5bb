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
    size_t lines = group->replicas[0]->count / 16;
    if (i == group->size)
        return group->replicas[0]->count;
    return 16 * (lines * (size_t)i / (size_t)group->size);
}

static void gather(const struct sync_group *group, int member)
{
    float *grads = group->replicas[member]->grads;
    for (int i = 0; i < group->size; i++) {
        size_t begin = slice_begin(group, i), end = slice_begin(group, i + 1);
        if (i != member)
            memcpy(grads + begin, group->replicas[i]->grads + begin, (end - begin) * sizeof *grads);
    }
}

/*
 * No barrier behind the gathering: slices of others are read only here, the optimizer leaves
 * gradients alone, and the next backward pass starts after every member has finished its step.
 */
static bool after(const struct sync_group *group, int member, struct sync_times *times,
                  struct error *err)
{
    double inner_wait_s = 0;
    if (!rendezvous_wait(group->meeting, member, &times->wait_s, err))
        return false;
    double begin = clock_seconds();
    sync_sum_gradients(group, member, slice_begin(group, member), slice_begin(group, member + 1));
    if (!rendezvous_wait(group->meeting, member, &inner_wait_s, err))
        return false;
    gather(group, member);
    times->moving_s += clock_seconds() - begin;
    return true;
}

const struct sync_algorithm sync_allreduce = {
    .description = "shared memory: reduce-scatter in device order, then all-gather",
    .after = after,
};

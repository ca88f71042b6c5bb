/* SPDX-License-Identifier: MIT */
#include "engine/train/sync.h"

#include <string.h>

#include "base/clock.h"

/* Device 0 sums all gradients and everybody takes the result from there. */
static bool after(const struct sync_group *group, int member, struct sync_times *times,
                  struct error *err)
{
    const struct replica *first = group->replicas[0];
    double inner_wait_s = 0;
    if (!rendezvous_wait(group->meeting, member, &times->wait_s, err))
        return false;
    double begin = clock_seconds();
    if (member == 0)
        sync_sum_gradients(group, 0, 0, first->count);
    if (!rendezvous_wait(group->meeting, member, &inner_wait_s, err))
        return false;
    if (member != 0)
        memcpy(group->replicas[member]->grads, first->grads, first->count * sizeof *first->grads);
    times->moving_s += clock_seconds() - begin;
    return true;
}

const struct sync_algorithm sync_reduce_broadcast = {
    .description = "shared memory: device 0 sums the gradients, the others copy the result",
    .after = after,
};

/* SPDX-License-Identifier: MIT */
#include "engine/train/sync.h"

#include "base/clock.h"

/*
 * The methods as the devices do them by themselves: who sums and who gets the sums is the link's
 * matter, which knows the method. Pieces are reduced as they become ready, where the way can do
 * that beside the backward pass, and all that is left after it.
 */

bool sync_piece_ready(struct sync_group *group, int member, int piece, struct error *err)
{
    struct sync_end *end = &group->ends[member];
    if (group->size == 1 || group->transport != SYNC_LINKED || !group->way->overlaps ||
        !end->overlaps)
        return true;
    if (!group->way->reduce(group->link, member, piece, err))
        return false;
    end->pieces = piece + 1;
    return true;
}

/* What shows here as moving is the part of the reduction that the backward pass did not hide. */
static bool after(struct sync_group *group, int member, struct sync_times *times, struct error *err)
{
    struct sync_end *end = &group->ends[member];
    if (!rendezvous_wait(group->meeting, member, &times->wait_s, err))
        return false;
    double begin = clock_seconds();
    while (end->pieces < group->piece_count)
        if (!group->way->reduce(group->link, member, end->pieces++, err))
            return false;
    bool ok = group->way->finish(group->link, member, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm sync_linked = {.after = after};

const struct sync_algorithm sync_linked_central = {
    .before = sync_fetch_before, .after = after, .one_updates = true};

/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/sync.h"

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
        !end->overlaps || group->sums_inside)
        return true;
    if (!group->way->reduce(group->link, member, piece, piece + 1, err))
        return false;
    end->pieces = piece + 1;
    return true;
}

static bool reduce_rest(struct sync_group *group, int member, struct error *err)
{
    struct sync_end *end = &group->ends[member];
    int first = end->pieces;
    end->pieces = group->piece_count;
    return (first == group->piece_count ||
            group->way->reduce(group->link, member, first, group->piece_count, err)) &&
           group->way->finish(group->link, member, err);
}

/*
 * Nobody is waited for where a way only queues: then what the device's own stream waits is for its
 * owner to measure. Otherwise what shows as moving is all of the reduction.
 *
 * In a first pass all members meet before anything is reduced: it loads code and allocates, which
 * may wait for a whole GPU, and so for ever where that GPU already waits for this member's part of
 * a reduction.
 */
static bool after(struct sync_group *group, int member, struct sync_times *times, struct error *err)
{
    const bool only_queues = group->way->overlaps && group->ends[member].overlaps;
    if (!only_queues && !rendezvous_wait(group->meeting, member, &times->wait_s, err))
        return false;
    double begin = clock_seconds();
    bool ok = reduce_rest(group, member, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

bool sync_sum_inside(struct sync_group *group, int member, const double *own, double *all,
                     size_t count, bool *queued, struct error *err)
{
    *queued = group->sums_inside;
    return !group->sums_inside || group->way->sum(group->link, member, own, all, count, err);
}

bool sync_check(const struct sync_group *group, int member, struct error *err)
{
    return group->transport != SYNC_LINKED || !group->link || !group->way->check ||
           group->way->check(group->link, member, err);
}

const struct sync_algorithm sync_linked = {.after = after};

/* Likewise nothing may be left of the broadcast when a first pass begins anywhere. */
static bool before_central(const struct sync_group *group, int member, struct sync_times *times,
                           struct error *err)
{
    const bool first = group->way->overlaps && !group->ends[member].overlaps;
    return sync_fetch_before(group, member, times, err) &&
           (!first || ((!group->way->settle || group->way->settle(group->link, member, err)) &&
                       rendezvous_wait(group->meeting, member, &times->wait_s, err)));
}

const struct sync_algorithm sync_linked_central = {
    .before = before_central, .after = after, .one_updates = true};

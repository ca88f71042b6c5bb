/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/collective.h"

#include "base/clock.h"
#include "engine/train/sync/across.h"
#include "engine/train/sync/sums.h"
#include "engine/train/sync/transport.h"

/* Squares of a rank's gradients, for the noise scale; a queue's come with the outcome of its pass.
 */
static bool add_squares(struct sync_group *group, int rank, enum pass_squares which, size_t begin,
                        size_t end, struct error *err)
{
    struct sync_end *self = &group->ends[rank];
    const struct backend *backend = self->backend;
    double squares = 0;
    if (begin == end || !group->squares)
        return true;
    if (self->queues)
        return backend->plan_squares(self->device, self->replica, which, begin, end, err);
    if (!backend->gradient_squares(self->device, self->replica, begin, end, &squares, err))
        return false;
    *(which == PASS_OWN_SQUARES ? &self->squares[rank] : &self->sum_squares) += squares;
    return true;
}

/* As the device itself has computed them, from the end of bucket `first` - 1 on. */
static bool add_own_squares(struct sync_group *group, int rank, int first, int end,
                            struct error *err)
{
    return add_squares(group, rank, PASS_OWN_SQUARES, first > 0 ? group->bucket_ends[first - 1] : 0,
                       end > 0 ? group->bucket_ends[end - 1] : 0, err);
}

/* Where all ranks have the sums each takes a slice of them. */
static bool add_sum_squares(struct sync_group *group, int rank, struct error *err)
{
    const size_t count = group->ends[rank].replica->count;
    const int slices = sync_world_size(group), slice = sync_world_rank(group, rank);
    if (group->method == SYNC_CENTRAL)
        return slice != 0 || add_squares(group, rank, PASS_SUM_SQUARES, 0, count, err);
    return add_squares(group, rank, PASS_SUM_SQUARES, slice_begin(count, slice, slices),
                       slice_begin(count, slice + 1, slices), err);
}

bool sync_bucket_ready(struct sync_group *group, int rank, int bucket, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    if (group->transport != SYNC_COLLECTIVE)
        return !group->link || across_bucket_ready(group, rank, bucket, err);
    if (!group->collective->overlaps || !end->overlaps || group->sums_inside)
        return true;
    if (!add_own_squares(group, rank, bucket, bucket + 1, err) ||
        !group->collective->reduce(group->device_group, rank, bucket, bucket + 1, err))
        return false;
    end->buckets = bucket + 1;
    return true;
}

static bool reduce_rest(struct sync_group *group, int rank, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    int first = end->buckets;
    end->buckets = group->bucket_count;
    return (first == group->bucket_count ||
            (add_own_squares(group, rank, first, group->bucket_count, err) &&
             group->collective->reduce(group->device_group, rank, first, group->bucket_count,
                                       err))) &&
           group->collective->finish(group->device_group, rank, err) &&
           add_sum_squares(group, rank, err);
}

/* Where steps are not queued, their errors and times are those of the reduction, too. */
static bool settle(const struct sync_group *group, int rank, struct error *err)
{
    const struct collective *collective = group->collective;
    return !collective->settle || collective->settle(group->device_group, rank, err);
}

/*
 * There is no barrier where a collective only queues: then the owner of the device's own stream
 * measures how long that waits. Otherwise moving_s is the whole reduction.
 *
 * A first pass has a barrier before anything is reduced: it loads code and allocates, which may
 * wait until a GPU is idle, and so for ever where that GPU already waits for this rank in a
 * reduction.
 */
static bool after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    const bool only_queues = group->collective->overlaps && group->ends[rank].overlaps;
    if (!only_queues && !sync_wait(group, rank, &times->wait_s, err))
        return false;
    double begin = clock_seconds();
    bool ok =
        reduce_rest(group, rank, err) && (group->ends[rank].queues || settle(group, rank, err));
    times->moving_s += clock_seconds() - begin;
    return ok;
}

bool sync_queue_allreduce(struct sync_group *group, int rank, const double *own, double *all,
                          size_t count, bool *queued, struct error *err)
{
    *queued = group->sums_inside;
    return !group->sums_inside ||
           group->collective->sum(group->device_group, rank, own, all, count, err);
}

bool sync_gathers(const struct sync_group *group)
{
    return group->gathers && group->transport == SYNC_COLLECTIVE && group->collective->gather;
}

bool sync_queue_gather(struct sync_group *group, int rank, void *parts, size_t bytes,
                       struct error *err)
{
    return group->collective->gather(group->device_group, rank, parts, bytes, err);
}

bool sync_queue_scatter(struct sync_group *group, int rank, void *parts, size_t count,
                        enum number_type type, struct error *err)
{
    return group->collective->scatter(group->device_group, rank, parts, count, type, err);
}

double sync_summed_s(const struct sync_group *group, int rank)
{
    return group->transport == SYNC_COLLECTIVE && group->link && group->collective->summed_s
               ? group->collective->summed_s(group->device_group, rank)
               : 0;
}

bool sync_check(const struct sync_group *group, int rank, struct error *err)
{
    return group->transport != SYNC_COLLECTIVE || !group->device_group ||
           !group->collective->check || group->collective->check(group->device_group, rank, err);
}

/* For the same reason the broadcast must be over when a first pass begins anywhere. */
static bool before_central(const struct sync_group *group, int rank, struct sync_times *times,
                           struct error *err)
{
    const bool first = group->collective->overlaps && !group->ends[rank].overlaps;
    return sync_fetch_before(group, rank, times, err) &&
           (!first || (settle(group, rank, err) && sync_wait(group, rank, &times->wait_s, err)));
}

const struct sync_algorithm *sync_on_devices(enum sync_method method)
{
    static const struct sync_algorithm everyone = {.after = after},
                                       central = {.before = before_central,
                                                  .after = after,
                                                  .one_updates = true};
    return method == SYNC_CENTRAL ? &central : &everyone;
}

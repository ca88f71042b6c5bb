/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/*
 * The methods as the devices do them by themselves. Who sums and who gets the sums is decided by
 * the collective, which knows the method. Buckets are reduced as they become ready where the
 * collective can overlap with the backward pass; what is left is reduced after it.
 */
const struct sync_algorithm *sync_on_devices(enum sync_method method);

/* The rest by each rank on its own thread, whatever the transport is. Gradients up to the end of
 * this bucket are complete. */
bool sync_bucket_ready(struct sync_group *group, int rank, int bucket, struct error *err);

/*
 * In the middle of a pass, by all ranks in one order: queue all[i] = the sum of every rank's
 * own[i], in their devices' memory, on their own streams. *queued is false where the transport
 * cannot, for all ranks alike; then the host has to sum them.
 */
bool sync_queue_allreduce(struct sync_group *group, int rank, const double *own, double *all,
                          size_t count, bool *queued, struct error *err);

/* Are values of passes gathered by the collective? */
bool sync_gathers(const struct sync_group *group);

/* Have the ranks anything to do together? */
static inline bool sync_joins(const struct sync_group *group)
{
    return sync_is_needed(group) || sync_gathers(group);
}

/* Where sync_gathers(): as those of struct collective, by all ranks in one order. */
bool sync_queue_gather(struct sync_group *group, int rank, void *parts, size_t bytes,
                       struct error *err);
bool sync_queue_scatter(struct sync_group *group, int rank, void *parts, size_t count,
                        enum number_type type, struct error *err);

/* Of the oldest step that was not asked for yet, and is over: for how long its gradients were
 * summed over hosts by the devices themselves, also beside other work, in seconds. */
double sync_summed_s(const struct sync_group *group, int rank);

/* struct device_watch.check: while a rank waits for its device, whether another has failed or is
 * being waited for too long. */
bool sync_check(const struct sync_group *group, int rank, struct error *err);

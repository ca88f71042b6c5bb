/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/* How numbers get from device to device; by each rank on its own thread. */

/*
 * Join after sync_choose. Leave at the end, when nobody reads another's memory any more; may be
 * called again, and without join. Break off when the run has failed, so that devices do not wait
 * for each other; then only leave may follow.
 */
bool sync_join(struct sync_group *group, int rank, struct error *err);
void sync_break_off(struct sync_group *group, int rank);
void sync_leave(struct sync_group *group, int rank);

/* Between a rank's replica and what the host sums. Nothing to do where that is the replica. */
bool sync_stage_grads(const struct sync_group *group, int rank, struct error *err);
bool sync_unstage_grads(const struct sync_group *group, int rank, struct error *err);

/*
 * Between steps: every rank gets the running statistics of device `index` of the run and, where
 * rank 0 alone has the newest, the parameters. All ranks call it; nobody may be writing either
 * meanwhile.
 */
bool sync_even_out(const struct sync_group *group, int rank, int index, struct error *err);

/* Every rank gets the parameters of rank 0: a method's `before`. */
bool sync_fetch_before(const struct sync_group *group, int rank, struct sync_times *times,
                       struct error *err);

/* Wait for all ranks; the time does not count. */
bool sync_barrier(const struct sync_group *group, int rank, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/*
 * Choose the transport: the nearest one that serves the ranks, whose replicas are all made; on the
 * owner's thread. `skip` collectives of the devices' own are not considered again; on return *skip
 * counts those that were tried. *why is why the last of them does not serve, if one was tried.
 */
bool sync_choose(struct sync_group *group, int *skip, struct error *why, struct error *err);
/* The same for ranks on devices of one kind in host memory that have only their last `count`
 * parameters alike. */
void sync_choose_shared(struct sync_group *group, size_t count);
/* Release what sync_choose made, when every rank has left. May be called again. */
void sync_close(struct sync_group *group);

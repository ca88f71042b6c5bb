/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/*
 * Choose the transport: the nearest one that serves the ranks, whose replicas are all made; on the
 * owner's thread. `skip` collectives of the devices' own are not considered again; on return *skip
 * counts those that were tried. *why is why the last of them does not serve, if one was tried.
 */
bool sync_choose(struct sync_group *group, int *skip, struct error *why, struct error *err);
/* Have the host sum, for ranks of one layout; why nothing faster does, or "". */
bool sync_choose_host(struct sync_group *group, const char *why, struct error *err);
/* Release what sync_choose made, when every rank has left. May be called again. */
void sync_close(struct sync_group *group);

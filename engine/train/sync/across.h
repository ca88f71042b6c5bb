/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/*
 * Sums over several hosts: those of a host's devices first, in device order, in the memory of its
 * first, and then over the hosts, bucket by bucket, beside the backward pass where that reports
 * them. With two hosts of a device each the sums are those of two devices of one host, bit by bit.
 */

/* A method, for a group with a link. */
const struct sync_algorithm *sync_across(enum sync_method method);

/* When the group's transport and count are known; freed by across_destroy. */
bool across_create(struct sync_group *group, struct error *err);
void across_destroy(struct sync_group *group);

/* Have all hosts' replicas one layout? `mine`: have those of this host, whose parameters are, on
 * all hosts, those of one set of weights. By rank 0's thread or the owner's, on all hosts. */
bool across_one_layout(const struct sync_group *group, bool mine, bool *alike, struct error *err);

/* *ok: is it so on all hosts, as it was on this one? Else *why has the reason of the first where it
 * is not, with its name. Without a link nothing changes. By one thread, on all hosts. */
bool across_agree(const struct sync_group *group, bool *ok, struct error *why, struct error *err);

/* Gradients of this host's rank up to the end of this bucket are complete. */
bool across_bucket_ready(struct sync_group *group, int rank, int bucket, struct error *err);

/* Replace values[0..count) by their sums over all devices of all hosts, as barrier_sum does for
 * those of one; without a link that. */
bool sync_sum(const struct sync_group *group, int rank, double *values, size_t count,
              double *waited, struct error *err);

/* The first rank's part in what goes from host to host: `data` of host `root` goes to the first
 * ranks of all; the others wait for it. */
bool across_broadcast(const struct sync_group *group, int rank, int root, void *data, size_t bytes,
                      struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/train/sync/group.h"

/* The sizes of the buckets in which gradients of `count` floats are best reduced: fills ends,
 * returns how many there are. Pure. */
enum { SYNC_MAX_BUCKETS = 32 };
int sync_buckets(size_t count, size_t *ends);

/* The method's two parts of a step, by each rank on its own thread. */
bool sync_before(struct sync_group *group, int rank, struct sync_times *times, struct error *err);
bool sync_after(struct sync_group *group, int rank, struct sync_times *times, struct error *err);

/*
 * After a step that is done everywhere, of a group with `squares`: the squared norm of a rank's
 * gradients before they were summed, and the rank's part of that of the sum, which is the sum over
 * all ranks of all hosts.
 */
void sync_squares(const struct sync_group *group, int rank, double *own, double *sum);

/* Bytes of gradients that every step reduces; 0 with one device. */
double sync_step_bytes(const struct sync_group *group);

/*
 * As nccl-tests has them, in bytes per second: algorithm bandwidth is the bytes reduced over the
 * time, bus bandwidth that times 2(k-1)/k. NAN when nothing was reduced.
 */
double sync_algorithm_bandwidth(double reduced_bytes, double seconds);
double sync_bus_bandwidth(double reduced_bytes, double seconds, int devices);

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_SYNC_H
#define DPARTUI_ENGINE_TRAIN_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/device.h"
#include "engine/train/rendezvous.h"

/*
 * How the replicas of a run are kept equal. Every device sums gradients in the order of the devices
 * (((g0 + g1) + g2) + ...), so all methods give the same bits; they differ in who does the work and
 * when. With one device nothing is copied.
 */

/* The replicas of a run, whose arenas all members can read and write. */
struct sync_group {
    int size;
    struct replica **replicas; /* size */
    struct rendezvous *meeting;
};

/* Where one device's time went. */
struct sync_times {
    double moving_s; /* reducing and copying, waiting for another to reduce included */
    double wait_s;   /* waiting for devices that have not finished their own shard yet */
};

/*
 * Each function is called by every member, on its own thread, in every step. *times is added to.
 */
struct sync_algorithm {
    const char *description; /* for the run's record */
    /* Before the forward pass; NULL: nothing to do. */
    bool (*before)(const struct sync_group *group, int member, struct sync_times *times,
                   struct error *err);
    /* After the backward pass: afterwards the gradients of each updating member are the sums. */
    bool (*after)(const struct sync_group *group, int member, struct sync_times *times,
                  struct error *err);
    bool one_updates; /* member 0 alone has the newest parameters; otherwise everyone updates */
};

const struct sync_algorithm *sync_algorithm_find(enum sync_method method);

/* Can these replicas be kept equal through host memory? ERROR_FAILED says why not. */
bool sync_check(const struct sync_group *group, const char *const *names, struct error *err);

/*
 * Give `member` the running statistics, or the parameters, of member `source`. Nobody may be
 * writing either's meanwhile.
 */
void sync_fetch_statistics(const struct sync_group *group, int member, int source);
void sync_fetch_params(const struct sync_group *group, int member, int source);

/* Bytes of gradients that every step reduces; 0 with one device. */
double sync_step_bytes(const struct sync_group *group);

/*
 * nccl-tests' figures, bytes per second: algorithm bandwidth is the bytes reduced over the time,
 * bus bandwidth that times 2(k-1)/k. NAN when nothing was reduced.
 */
double sync_algorithm_bandwidth(double reduced_bytes, double seconds);
double sync_bus_bandwidth(double reduced_bytes, double seconds, int devices);

/* The methods, one file each. */
extern const struct sync_algorithm sync_allreduce, sync_reduce_broadcast, sync_central;

/* For the methods: grads[begin..end) of `member` becomes the sum over all members. */
void sync_sum_gradients(const struct sync_group *group, int member, size_t begin, size_t end);

#endif

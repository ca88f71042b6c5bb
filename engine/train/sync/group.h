/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/collective.h"
#include "engine/device/device.h"
#include "engine/train/hosts/link.h"
#include "engine/train/hosts/map.h"
#include "engine/train/sync/barrier.h"

/*
 * How the replicas of a run are kept equal. Two questions, apart: the method (struct
 * sync_algorithm: who sums, who updates) and, below it, the transport: how the numbers get from
 * device to device.
 *
 * Whatever the host or the devices' own kernels sum is summed in the order of the devices (((g0 +
 * g1) + g2) + ...), so on devices of one kind all methods and those transports give identical
 * results; different kinds round the update differently. A library of the devices may have an order
 * of its own. With one device nothing is copied.
 */
enum sync_transport {
    SYNC_SHARED,     /* arenas of one layout in host memory, read and written where they are */
    SYNC_COLLECTIVE, /* a collective of the devices' own (engine/device/collective.h) */
    SYNC_STAGED,     /* arenas of one layout, through host memory */
    SYNC_CANONICAL,  /* of different layouts, through host memory in the network's own order */
};

/* One device of the group; what `sync_choose` reads is filled in by the owner. */
struct sync_end {
    const struct backend *backend;
    struct device *device;
    struct replica *replica;
    float *grads;  /* what the host sums: the replica's own, or the stage */
    bool overlaps; /* buckets that are ready may be reduced at once; set before each pass */
    bool queues;   /* the device queues passes; set likewise */
    int buckets;   /* of this step's that are being reduced */
    bool has_stage;
    atomic_bool waits; /* for other hosts */
    /* Of this step, what this rank has added up while summing: the squares of each rank's
     * gradients, where it summed them, and of the sums. */
    double squares[SPEC_MAX_DEVICES], sum_squares;
};

struct across;

struct sync_group {
    int size;
    struct sync_end *ends;    /* size; borrowed */
    const char *const *names; /* likewise */
    struct barrier *barrier;
    const int *parties; /* of the barrier: which one each rank is; NULL: of its own number */
    enum sync_method method;
    /* How many parameters, at the end of each rank's arena, all ranks have; 0: all of them, unless
     * disjoint: they have none in common, and nothing is summed. */
    size_t replicated;
    bool disjoint;
    bool gathers; /* values are gathered in passes: by the collective where it can do that */
    const size_t *bucket_ends; /* of their gradients, for transports that reduce by buckets */
    int bucket_count;
    double limit_s; /* for a wait inside a transport */
    bool sync_bn;   /* BatchNorms want sums over all devices in the middle of a pass */
    bool overlaps;  /* gradients are reduced while others are being computed, where that can be */
    bool squares;   /* of gradients are wanted: sync_squares */
    /* The group is this host's part of a larger one; NULL: it is all there is. */
    struct host_link *link;
    const struct host_map *map;

    /* Chosen. */
    enum sync_transport transport;
    const struct sync_algorithm *algorithm;
    size_t count;  /* gradients of each rank that are summed: its last */
    float *params; /* stage of rank 0's parameters, and of running statistics */
    float *statistics;
    const struct collective *collective; /* SYNC_COLLECTIVE */
    struct device_group *device_group;
    bool sums_inside; /* `collective` makes BatchNorm's sums on the devices; then no gradients are
                         reduced in the middle of a pass: all ranks have one order of operations */
    struct across *across; /* with a link: across.h */
    char description[320]; /* for the run's record */
};

/* Where one device's time went. */
struct sync_times {
    double moving_s; /* reducing and copying, waiting for another to reduce included */
    double wait_s;   /* waiting for devices that have not finished their own shard yet */
};

/* Has it parameters to keep equal? */
static inline bool sync_is_needed(const struct sync_group *group)
{
    return !group->disjoint && (group->size > 1 || group->link);
}

/* The ranks of all hosts, and which of them a rank of this one is. */
static inline int sync_world_size(const struct sync_group *group)
{
    return group->link ? group->map->begin[group->link->hosts.count] : group->size;
}

static inline int sync_world_rank(const struct sync_group *group, int rank)
{
    return group->link ? group->map->begin[group->link->index] + rank : rank;
}

/* Wait for all parties of the group's barrier. */
static inline bool sync_wait(const struct sync_group *group, int rank, double *waited,
                             struct error *err)
{
    return barrier_wait(group->barrier, group->parties ? group->parties[rank] : rank, waited, err);
}

/*
 * Each function is called by every rank, on its own thread, in every step. *times is added to.
 */
struct sync_algorithm {
    const char *description;
    /* Before the forward pass; NULL: nothing to do. */
    bool (*before)(const struct sync_group *group, int rank, struct sync_times *times,
                   struct error *err);
    /* After the backward pass: afterwards the gradients of each updating rank are the sums. */
    bool (*after)(struct sync_group *group, int rank, struct sync_times *times, struct error *err);
    bool one_updates; /* rank 0 alone has the newest parameters; otherwise everyone updates */
};

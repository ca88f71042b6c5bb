/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_SYNC_SYNC_H
#define DPARTUI_ENGINE_TRAIN_SYNC_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/collective.h"
#include "engine/device/device.h"
#include "engine/train/sync/barrier.h"

/*
 * How the replicas of a run are kept equal. Two questions, apart: the method (struct
 * sync_algorithm: who sums, who updates) and, below it, the transport: how the numbers get from
 * device to device.
 *
 * Whatever the host or the devices' own kernels sum is summed in the order of the devices (((g0 +
 * g1) + g2) + ...), so on devices of one kind all methods and those transports give the same bits;
 * different kinds round the update differently. A library of the devices may have an order of its
 * own. With one device nothing is copied.
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
    int buckets;   /* of this step's, so many are being reduced */
    bool has_stage;
};

struct sync_group {
    int size;
    struct sync_end *ends;    /* size; borrowed */
    const char *const *names; /* likewise */
    struct barrier *barrier;
    enum sync_method method;
    const size_t *bucket_ends; /* of the gradients, for transports that reduce by buckets */
    int bucket_count;
    double limit_s; /* for a wait inside a transport */
    bool sync_bn;   /* BatchNorms want sums over all devices in the middle of a pass */

    /* Chosen. */
    enum sync_transport transport;
    const struct sync_algorithm *algorithm;
    size_t count;  /* numbers that the host sums */
    float *params; /* stage of rank 0's parameters, and of running statistics */
    float *state;
    const struct collective *collective; /* SYNC_COLLECTIVE */
    struct device_group *device_group;
    bool sums_inside; /* `collective` makes BatchNorm's sums on the devices; then no gradients are
                         reduced in the middle of a pass: all ranks have one order of operations */
    char description[320]; /* for the run's record */
};

/* Where one device's time went. */
struct sync_times {
    double moving_s; /* reducing and copying, waiting for another to reduce included */
    double wait_s;   /* waiting for devices that have not finished their own shard yet */
};

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

/* The sizes of the buckets in which gradients of `count` floats are best reduced: fills ends,
 * returns how many there are. Pure. */
enum { SYNC_MAX_BUCKETS = 32 };
int sync_buckets(size_t count, size_t *ends);

/*
 * Choose how the ranks' replicas, all made, are kept equal; on the owner's thread. `skip`
 * collectives of the devices' own are not considered again; on return *skip counts those that were
 * tried. *why is why the last of them does not serve, if one was tried.
 */
bool sync_choose(struct sync_group *group, int *skip, struct error *why, struct error *err);
/* Release what sync_choose made, when every rank has left. May be called again. */
void sync_close(struct sync_group *group);

/*
 * The rest on each rank's own thread. Join after sync_choose. Leave at the end, when nobody reads
 * another's memory any more; may be called again, and without join. Break off when the run has
 * failed: so that devices do not wait for each other; then only leave may follow.
 */
bool sync_join(struct sync_group *group, int rank, struct error *err);
void sync_break_off(struct sync_group *group, int rank);
void sync_leave(struct sync_group *group, int rank);

/* The method's two parts of a step, and between them: that bucket `bucket` is complete. */
bool sync_before(struct sync_group *group, int rank, struct sync_times *times, struct error *err);
bool sync_bucket_ready(struct sync_group *group, int rank, int bucket, struct error *err);
bool sync_after(struct sync_group *group, int rank, struct sync_times *times, struct error *err);

/*
 * In the middle of a pass, by all ranks in one order: queue all[i] = the sum of every rank's
 * own[i], in their devices' memory, on their own streams. *queued is false where the transport
 * cannot, for all ranks alike; then the host has to sum them.
 */
bool sync_queue_allreduce(struct sync_group *group, int rank, const double *own, double *all,
                          size_t count, bool *queued, struct error *err);

/* struct device_watch.check: while a rank waits for its device, whether another has failed or is
 * being waited for too long. */
bool sync_check(const struct sync_group *group, int rank, struct error *err);

/*
 * Between steps: every rank gets the running statistics of rank `source` and, where rank 0
 * alone has the newest, the parameters. All ranks call it; nobody may be writing either
 * meanwhile.
 */
bool sync_even_out(const struct sync_group *group, int rank, int source, struct error *err);

/* Likewise rank 0's parameters alone; for methods. */
bool sync_fetch_params(const struct sync_group *group, int rank, struct error *err);
/* The same as the `before` of a method. */
bool sync_fetch_before(const struct sync_group *group, int rank, struct sync_times *times,
                       struct error *err);
/* Wait for all ranks; the time does not count. */
bool sync_barrier(const struct sync_group *group, int rank, struct error *err);

/* Bytes of gradients that every step reduces; 0 with one device. */
double sync_step_bytes(const struct sync_group *group);

/*
 * nccl-tests' figures, bytes per second: algorithm bandwidth is the bytes reduced over the time,
 * bus bandwidth that times 2(k-1)/k. NAN when nothing was reduced.
 */
double sync_algorithm_bandwidth(double reduced_bytes, double seconds);
double sync_bus_bandwidth(double reduced_bytes, double seconds, int devices);

/* The methods as the host does them, one file each, and as the devices do them (sync/collective.c).
 */
extern const struct sync_algorithm sync_allreduce, sync_reduce_broadcast, sync_central;
extern const struct sync_algorithm sync_collective, sync_collective_central;

/* For the methods: grads[begin..end) of the first `ranks` become the sums over all ranks. */
void sync_sum_gradients(const struct sync_group *group, int ranks, size_t begin, size_t end);

/* sync/stage.c, for the methods: between a rank's replica and what the host sums. Nothing to do
 * where that is the replica itself. */
bool sync_stage_grads(const struct sync_group *group, int rank, struct error *err);
bool sync_unstage_grads(const struct sync_group *group, int rank, struct error *err);

#endif

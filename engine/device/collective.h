/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/device.h"
#include "spec/spec.h"

/*
 * Collective operations of the devices of one run, all of one kind, on their memory without the
 * host. A backend lists its collectives (struct backend.collectives), best first; a run takes the
 * first that serves its devices.
 */

struct device_group; /* a collective's own: one for a run, shared by its devices' threads */

/* Ranks of other processes in the same reductions: for collectives that can do that. */
struct collective_world {
    int first, count; /* global rank of the request's rank 0; ranks in all processes */
    const void *id;   /* of make_id, the same in all of them */
};

enum { COLLECTIVE_ID_BYTES = 128 };

struct collective_request {
    int count;
    /* Of the run, in order: open, all plans made. The two lists are lent for `create` only. */
    struct device *const *devices;
    struct replica *const *replicas;
    const char *const *names; /* these, and `ends`, for the group's life */
    enum sync_method method;
    /* Ends of the buckets, ascending, counted from the first gradient that is reduced: the last one
     * is how many of each rank's gradients, at the end of its arena, are reduced. */
    const size_t *ends;
    int buckets;
    bool gathers;     /* gather and scatter are used, too */
    bool during_pass; /* buckets are reduced while later ones are being computed; else after it */
    double limit_s;   /* a wait that takes longer fails */
    /* A barrier of all ranks, with the run's own deadline; fails when the run is called off. */
    bool (*barrier)(void *context, int rank, struct error *err);
    bool (*called_off)(void *context); /* any thread, at once */
    void *context;
    const struct collective_world
        *world; /* lent for `create` only. NULL: the devices above are all */
};

struct collective {
    /*
     * On the run's own thread; starts nothing on the devices. False: it does not serve these
     * devices, and *err says why.
     */
    bool (*create)(const struct collective_request *request, struct device_group **out,
                   struct error *err);
    /* In one process of a world, before `create` in all of them: COLLECTIVE_ID_BYTES that tell this
     * world from others. NULL: there is none, it serves the devices of one process alone. */
    bool (*make_id)(void *id, struct error *err);
    /* After every rank has left. */
    void (*destroy)(struct device_group *group);
    /* "NCCL 2.28.9: all-reduce, in 7 buckets during the backward pass" */
    void (*describe)(const struct device_group *group, char *buffer, size_t size);
    /*
     * reduce, finish and send_params only queue: buckets can be reduced while later ones are still
     * being computed, no barrier is needed, and what is queued on the device's own stream
     * afterwards comes after the sums. Otherwise they wait, and all buckets are reduced in
     * `finish`.
     */
    bool overlaps;

    /*
     * The rest by each rank on its own thread. Once join has failed for one, or leave was called
     * with `broken`, nothing but leave may follow; others who wait for it fail, too.
     */
    bool (*join)(struct device_group *group, int rank, struct error *err);
    /* May be called again, or without join. broken: do not wait for the others. */
    void (*leave)(struct device_group *group, int rank, bool broken);
    /*
     * Queue the reduction of buckets first..end-1 of the gradients, after what is now queued on
     * the device's stream. All buckets in ascending order, in every step.
     */
    bool (*reduce)(struct device_group *group, int rank, int first, int end, struct error *err);
    /*
     * The end of a step's reductions. With `central` only rank 0 then has the sums, otherwise all
     * have. Without `overlaps` there was a barrier of all ranks since the last pass.
     */
    bool (*finish)(struct device_group *group, int rank, struct error *err);
    /* Broadcast rank 0's parameters to all. */
    bool (*send_params)(struct device_group *group, int rank, struct error *err);
    /* With `overlaps`: wait until what is queued on the device's own stream is done. NULL: nothing
     * ever is. */
    bool (*settle)(struct device_group *group, int rank, struct error *err);
    /*
     * Queue on the device's own stream: all[i] = the sum of every rank's own[i], in the device's
     * memory. By all ranks, in the same place among the other reductions. NULL: cannot be done.
     */
    bool (*sum)(struct device_group *group, int rank, const double *own, double *all, size_t count,
                struct error *err);
    /*
     * Queued like `sum`, in memory of the device with room for one part from each rank, in their
     * order. gather: each rank has filled its own part, of `bytes`; afterwards all have all.
     * scatter: each rank has filled all parts, of `count` numbers; afterwards its own is the sum
     * over the ranks, the others are undefined. NULL: cannot be done.
     */
    bool (*gather)(struct device_group *group, int rank, void *parts, size_t bytes,
                   struct error *err);
    bool (*scatter)(struct device_group *group, int rank, void *parts, size_t count,
                    enum number_type type, struct error *err);
    /* Of a world, with `overlaps`: for how long the reductions of the oldest step that was not
     * asked for yet, and is over, were under way, in seconds. NULL: not known. */
    double (*summed_s)(struct device_group *group, int rank);
    /*
     * On the rank's thread, while it waits for its device: false when another rank has failed,
     * or the limit has passed since this one came to a reduction to which others have not come;
     * *err names them. NULL: such waits end by themselves.
     */
    bool (*check)(struct device_group *group, int rank, struct error *err);
};

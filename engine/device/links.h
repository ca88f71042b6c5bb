/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_LINKS_H
#define DPARTUI_ENGINE_DEVICE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/device/device.h"
#include "spec/spec.h"

/*
 * A way in which the devices of one run, all of one kind, reduce their arenas without the host. A
 * backend lists its ways (struct backend.links), best first; a run takes the first that serves its
 * devices.
 */

struct link; /* a way's own: one for a run, shared by its devices' threads */

/* Ranks of other processes in the same reductions: for ways that can do that. */
struct link_world {
    int first, count; /* rank of the request's first device; ranks in all processes */
    const void *id;   /* what all of them were given: of the way's own kind and size */
};

struct link_request {
    int count;
    /* Of the run, in order: open, all plans made. The two lists are lent for `create` only. */
    struct device *const *devices;
    struct replica *const *replicas;
    const char *const *names; /* these, and `ends`, for the link's life */
    enum sync_method method;
    const size_t *ends; /* of the pieces of the gradients: ascending, the last is their length */
    int pieces;
    double limit_s; /* a wait that takes longer fails */
    /* A barrier of all members, with the run's own deadline; fails when the run is called off. */
    bool (*meet)(void *context, int member, struct error *err);
    bool (*called_off)(void *context); /* any thread, at once */
    void *context;
    const struct link_world *world; /* lent for `create` only. NULL: the devices above are all */
};

struct links {
    /*
     * On the run's own thread; starts nothing on the devices. False: these devices cannot be linked
     * so, and *err says why.
     */
    bool (*create)(const struct link_request *request, struct link **out, struct error *err);
    /* After every member has left. */
    void (*destroy)(struct link *link);
    /* "NCCL 2.28.9: all-reduce of 7 pieces during the backward pass" */
    void (*describe)(const struct link *link, char *buffer, size_t size);
    /*
     * reduce, finish and send_params only queue: pieces can be reduced while later ones are still
     * being computed, nobody has to meet anybody, and what is queued on the device's own stream
     * afterwards comes after the sums. Otherwise they wait, and all pieces are reduced in `finish`.
     */
    bool overlaps;

    /*
     * The rest by each member on its own thread. Once join has failed for one, or leave was called
     * with `broken`, nothing but leave may follow; others who wait for it fail, too.
     */
    bool (*join)(struct link *link, int member, struct error *err);
    /* May be called again, or without join. broken: do not wait for the others. */
    void (*leave)(struct link *link, int member, bool broken);
    /*
     * Queue the reduction of pieces first..end-1 of the gradients, behind what is now queued on the
     * device's stream. All pieces in ascending order, in every step.
     */
    bool (*reduce)(struct link *link, int member, int first, int end, struct error *err);
    /*
     * The end of a step's reductions. With `central` only member 0 then has the sums, otherwise all
     * have. Without `overlaps` every member has met the others since its last pass.
     */
    bool (*finish)(struct link *link, int member, struct error *err);
    /* Member 0's parameters become everybody's. */
    bool (*send_params)(struct link *link, int member, struct error *err);
    /* With `overlaps`: wait until what is queued on the device's own stream is done. NULL: nothing
     * ever is. */
    bool (*settle)(struct link *link, int member, struct error *err);
    /*
     * Queue on the device's own stream: all[i] = the sum of every member's own[i], in the device's
     * memory. By all members, in the same place among the other reductions. NULL: cannot be done.
     */
    bool (*sum)(struct link *link, int member, const double *own, double *all, size_t count,
                struct error *err);
    /*
     * On the member's thread, while it waits for its device: false when another member has failed,
     * or the limit has passed since this one came to a reduction to which others have not come;
     * *err names them. NULL: such waits end by themselves.
     */
    bool (*check)(struct link *link, int member, struct error *err);
};

#endif

/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/device/cuda/group.h"
#include "engine/device/cuda/nccl_api.h"

/*
 * Reductions by NCCL, a communicator for each GPU, used by that GPU's thread alone. Communicators
 * are non-blocking: no call may hang, and every wait looks at the communicator, the clock and the
 * run. When one member gives up, `broken` tells the others; each then aborts its own communicator,
 * which also ends its kernels that wait for the others on the GPU.
 *
 * A piece is reduced on a stream of its own as soon as the pass has queued what makes it, beside
 * the rest of the backward pass.
 */

struct nccl_end {
    struct group_end base;
    ncclComm_t comm;
    atomic_long queued; /* calls so far: who is behind when something hangs */
};

struct link {
    const struct nccl_api *api;
    struct link_request request;
    ncclUniqueId id;
    int version;
    atomic_bool broken;
    struct nccl_end ends[];
};

/* Communicators are made within this many seconds, or not at all; or ended in order. */
static const double JOIN_S = 120, PART_S = 10;

static bool check_distinct(const struct link_request *request, struct error *err)
{
    for (int i = 0; i < request->count; i++)
        for (int j = 0; j < i; j++)
            if (request->devices[i]->ordinal == request->devices[j]->ordinal)
                return error_set(err, ERROR_FAILED,
                                 "NCCL wants different GPUs, and %s is named "
                                 "twice",
                                 request->names[i]);
    return true;
}

static bool nccl_create(const struct link_request *request, struct link **out, struct error *err)
{
    if (!check_distinct(request, err))
        return false;
    const struct nccl_api *api = nccl_open(err);
    if (!api)
        return false;
    struct link *link = calloc(1, sizeof *link + (size_t)request->count * sizeof *link->ends);
    if (!link)
        return error_memory(err, "links between GPUs");
    link->api = api;
    link->request = *request;
    atomic_init(&link->broken, false);
    for (int i = 0; i < request->count; i++) {
        link->ends[i].base = (struct group_end){.device = request->devices[i],
                                                .replica = request->replicas[i],
                                                .name = request->names[i]};
        atomic_init(&link->ends[i].queued, 0);
    }
    if (!nccl_check(api, api->GetVersion(&link->version), "NCCL", err) ||
        !nccl_check(api, api->GetUniqueId(&link->id), "NCCL", err)) {
        free(link);
        return false;
    }
    *out = link;
    return true;
}

static void nccl_destroy(struct link *link)
{
    free(link);
}

static void nccl_describe(const struct link *link, char *buffer, size_t size)
{
    static const char *const methods[] = {
        [SYNC_ALLREDUCE] = "all-reduce",
        [SYNC_REDUCE_BROADCAST] = "reduce to device 0 and broadcast",
        [SYNC_CENTRAL] = "parameters broadcast from device 0, gradients reduced there",
    };
    int pieces = link->request.pieces;
    snprintf(buffer, size, "NCCL %d.%d.%d: %s, in %d piece%s during the backward pass",
             link->version / 10000, link->version / 100 % 100, link->version % 100,
             methods[link->request.method], pieces, pieces == 1 ? "" : "s");
}

/* Who has asked NCCL for less than `member`: the others wait for them. */
static bool blame(const struct link *link, int member, const char *what, double limit_s,
                  struct error *err)
{
    struct text late = TEXT_INIT;
    long mine = atomic_load(&link->ends[member].queued);
    for (int i = 0; i < link->request.count; i++)
        if (atomic_load(&link->ends[i].queued) < mine)
            text_printf(&late, "%s%s", late.length ? ", " : "", link->request.names[i]);
    const char *list = late.length ? text_cstr(&late) : NULL;
    error_set(err, ERROR_FAILED, "%s waited %.0f s in vain for %s (NCCL, %s)",
              link->request.names[member], limit_s,
              list ? list : "the other GPUs; see dmesg and nvidia-smi topo -m", what);
    text_free(&late);
    return false;
}

/* While member waits for `what` since `began`: is there a reason not to go on? *state is what the
 * communicator says. */
static bool look(struct link *link, int member, const char *what, double began, double limit_s,
                 ncclResult_t *state, struct error *err)
{
    const struct link_request *request = &link->request;
    const char *name = request->names[member];
    ncclResult_t status = link->api->CommGetAsyncError(link->ends[member].comm, state);
    if (!nccl_check(link->api, status, what, err) || !nccl_check(link->api, *state, what, err))
        return error_prefix(err, "%s: NCCL", name);
    if (request->called_off(request->context))
        return error_set(err, ERROR_CANCELLED, "%s: %s was called off", name, what);
    if (atomic_load(&link->broken))
        return error_set(err, ERROR_FAILED, "%s: %s: another GPU has failed", name, what);
    if (limit_s > 0 && clock_seconds() - began > limit_s)
        return blame(link, member, what, limit_s, err);
    return true;
}

static void rest(double began)
{
    const struct timespec pause = {.tv_nsec = 20000};
    /* What comes soon is not slept for. */
    if (clock_seconds() - began > 50e-6)
        nanosleep(&pause, NULL);
}

/* After a call that gave `status`: until NCCL has done what the host has to do for it. */
static bool settle(struct link *link, int member, ncclResult_t status, const char *what,
                   double limit_s, struct error *err)
{
    double began = clock_seconds();
    ncclResult_t state = ncclInProgress;
    atomic_fetch_add(&link->ends[member].queued, 1);
    if (!nccl_check(link->api, status, what, err))
        return error_prefix(err, "%s: NCCL", link->request.names[member]);
    if (status == ncclSuccess)
        return true;
    while (look(link, member, what, began, limit_s, &state, err)) {
        if (state == ncclSuccess)
            return true;
        rest(began);
    }
    return false;
}

/* Until all that was queued on the member's stream is done. */
static bool wait_done(struct link *link, int member, const char *what, struct error *err)
{
    struct nccl_end *end = &link->ends[member];
    double began = clock_seconds();
    ncclResult_t state;
    cudaError_t status;
    while ((status = cudaStreamQuery(end->base.stream)) == cudaErrorNotReady) {
        (void)cudaGetLastError(); /* "not ready" is kept like an error */
        if (!look(link, member, what, began, link->request.limit_s, &state, err))
            return false;
        rest(began);
    }
    return cuda_check(status, what, err) || error_prefix(err, "%s", end->base.name);
}

static bool make_communicator(struct link *link, int member, struct error *err)
{
    struct nccl_end *end = &link->ends[member];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclResult_t status =
        link->api->CommInitRankConfig(&end->comm, link->request.count, link->id, member, &config);
    double limit_s = link->request.limit_s > 0 ? fmin(link->request.limit_s, JOIN_S) : JOIN_S;
    return settle(link, member, status, "communicator", limit_s, err);
}

static bool nccl_join(struct link *link, int member, struct error *err)
{
    struct nccl_end *end = &link->ends[member];
    bool ok = cuda_select(end->base.device, err) && group_end_open(&end->base, err) &&
              make_communicator(link, member, err);
    if (!ok)
        atomic_store(&link->broken, true);
    return ok;
}

/* In order: all that was asked for is done, and the others part, too. */
static bool part(struct link *link, int member)
{
    struct nccl_end *end = &link->ends[member];
    struct error ignored = ERROR_INIT;
    ncclResult_t state = ncclInProgress, status = link->api->CommFinalize(end->comm);
    double began = clock_seconds();
    while (status == ncclSuccess || status == ncclInProgress) {
        status = link->api->CommGetAsyncError(end->comm, &state);
        if (status == ncclSuccess && state == ncclSuccess)
            return nccl_check(link->api, link->api->CommDestroy(end->comm), "NCCL", &ignored);
        if ((state != ncclSuccess && state != ncclInProgress) || atomic_load(&link->broken) ||
            clock_seconds() - began > PART_S)
            return false;
        rest(began);
    }
    return false;
}

static void nccl_leave(struct link *link, int member, bool broken)
{
    struct nccl_end *end = &link->ends[member];
    if (broken)
        atomic_store(&link->broken, true);
    if (end->comm && (atomic_load(&link->broken) || !part(link, member)))
        link->api->CommAbort(end->comm);
    end->comm = NULL;
    group_end_close(&end->base);
}

static bool nccl_reduce(struct link *link, int member, int piece, struct error *err)
{
    const struct nccl_api *api = link->api;
    const struct link_request *request = &link->request;
    struct nccl_end *end = &link->ends[member];
    size_t first = piece > 0 ? request->ends[piece - 1] : 0, count = request->ends[piece] - first;
    float *grads = end->base.replica->grads + first;
    cudaStream_t stream = end->base.stream;
    if (!group_end_follow(&end->base, err))
        return error_prefix(err, "%s", end->base.name);
    if (request->method == SYNC_ALLREDUCE)
        return settle(link, member,
                      api->AllReduce(grads, grads, count, ncclFloat32, ncclSum, end->comm, stream),
                      "all-reduce", request->limit_s, err);
    if (!settle(link, member,
                api->Reduce(grads, grads, count, ncclFloat32, ncclSum, 0, end->comm, stream),
                "reduce", request->limit_s, err))
        return false;
    return request->method == SYNC_CENTRAL ||
           settle(link, member,
                  api->Broadcast(grads, grads, count, ncclFloat32, 0, end->comm, stream),
                  "broadcast", request->limit_s, err);
}

static bool nccl_finish(struct link *link, int member, struct error *err)
{
    return wait_done(link, member, "reduction of gradients", err);
}

static bool nccl_send_params(struct link *link, int member, struct error *err)
{
    struct nccl_end *end = &link->ends[member];
    struct replica *replica = end->base.replica;
    if (!group_end_follow(&end->base, err))
        return error_prefix(err, "%s", end->base.name);
    return settle(link, member,
                  link->api->Broadcast(replica->params, replica->params, replica->count,
                                       ncclFloat32, 0, end->comm, end->base.stream),
                  "broadcast", link->request.limit_s, err) &&
           (member == 0 || group_end_take_params(&end->base, err)) &&
           wait_done(link, member, "broadcast of parameters", err);
}

const struct links nccl_links = {
    .create = nccl_create,
    .destroy = nccl_destroy,
    .describe = nccl_describe,
    .overlaps = true,
    .join = nccl_join,
    .leave = nccl_leave,
    .reduce = nccl_reduce,
    .finish = nccl_finish,
    .send_params = nccl_send_params,
};

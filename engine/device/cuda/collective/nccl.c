/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/nccl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "engine/device/cuda/collective/nccl_guard.h"
#include "engine/device/cuda/collective/nccl_marks.h"
#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/wait.h"

/*
 * Collectives by NCCL, a communicator for each GPU, used by that GPU's thread alone. A bucket is
 * reduced on its own stream as soon as the pass has queued what makes it, parallel to the rest of
 * the backward pass. Nothing here waits: the device's own stream waits for the sums, and whoever
 * waits for that stream asks nccl_check_rank whether it still may.
 *
 * Sums for a BatchNorm and the gathers of layers go by the same communicator, because operations of
 * two that overlap on the same GPUs can block each other; so all ranks must ask for all operations
 * in one order.
 */

/* Seconds within which communicators must be made, and the time that the last reduction may take
 * when all is done. */
static const double JOIN_S = 120, REST_S = 10;

static bool check_distinct(const struct collective_request *request, struct error *err)
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

static void place_ranks(struct device_group *group)
{
    const struct collective_world *world = group->request.world;
    group->first = world ? world->first : 0;
    group->ranks = world ? world->count : group->request.count;
    if (world)
        memcpy(&group->id, world->id, sizeof group->id);
    group->request.world = NULL;
}

static bool begin(struct device_group *group, struct error *err)
{
    const struct nccl_api *api = group->api;
    if (!nccl_check(api, api->GetVersion(&group->version), "NCCL", err) ||
        (!group->request.world && !nccl_check(api, api->GetUniqueId(&group->id), "NCCL", err)))
        return false;
    place_ranks(group);
    return nccl_guard_start(group, err);
}

static bool nccl_make_id(void *id, struct error *err)
{
    _Static_assert(sizeof(ncclUniqueId) <= COLLECTIVE_ID_BYTES, "the id of a world");
    const struct nccl_api *api = nccl_open(err);
    return api && nccl_check(api, api->GetUniqueId(id), "NCCL", err);
}

static bool nccl_create(const struct collective_request *request, struct device_group **out,
                        struct error *err)
{
    if (!check_distinct(request, err))
        return false;
    const struct nccl_api *api = nccl_open(err);
    if (!api)
        return false;
    struct device_group *group =
        calloc(1, sizeof *group + (size_t)request->count * sizeof *group->ends);
    if (!group)
        return error_memory(err, "reductions between GPUs");
    group->api = api;
    group->request = *request;
    for (int i = 0; i < request->count; i++)
        group->ends[i].base = (struct group_end){.device = request->devices[i],
                                                 .replica = request->replicas[i],
                                                 .name = request->names[i]};
    if (!begin(group, err)) {
        free(group);
        return false;
    }
    *out = group;
    return true;
}

static void nccl_describe(const struct device_group *group, char *buffer, size_t size)
{
    static const char *const methods[] = {
        [SYNC_ALLREDUCE] = "all-reduce",
        [SYNC_REDUCE_BROADCAST] = "reduce to device 0 and broadcast",
        [SYNC_CENTRAL] = "parameters broadcast from device 0, gradients reduced there",
    };
    const struct collective_request *request = &group->request;
    const int version = group->version, buckets = request->buckets;
    int length = snprintf(buffer, size, "NCCL %d.%d.%d: %s", version / 10000, version / 100 % 100,
                          version % 100,
                          request->gathers ? "layers gathered and scattered"
                          : buckets > 0    ? ""
                                           : "nothing to reduce");
    if (buckets > 0 && length >= 0 && (size_t)length < size)
        snprintf(buffer + length, size - (size_t)length,
                 "%s%s, in %d bucket%s %s the backward pass",
                 request->gathers ? ", gradients by " : "", methods[request->method], buckets,
                 plural(buckets), request->during_pass ? "during" : "after");
}

static bool make_communicator(struct device_group *group, int rank, struct error *err)
{
    struct nccl_end *end = &group->ends[rank];
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    /* Long before those that wait are taken for GPUs that hang. */
    double limit_s = group->request.limit_s > 0 ? fmin(group->request.limit_s / 2, JOIN_S) : JOIN_S;
    return nccl_enter(group, rank, NCCL_JOINING, limit_s, err) &&
           nccl_return(group, rank, NCCL_JOINING,
                       group->api->CommInitRankConfig(&end->comm, group->ranks, group->id,
                                                      group->first + rank, &config),
                       err);
}

static bool nccl_join(struct device_group *group, int rank, struct error *err)
{
    struct nccl_end *end = &group->ends[rank];
    bool ok = cuda_select(end->base.device, err) && group_end_open(&end->base, err) &&
              nccl_marks_open(end, err) && make_communicator(group, rank, err);
    if (!ok)
        nccl_break(group, err);
    return ok;
}

/* Communicators are destroyed in order when their last work is done. */
static bool is_at_rest(const struct nccl_end *end)
{
    double began = clock_seconds();
    while (end->marked > 0 && !nccl_is_over(end->marks[(end->marked - 1) % NCCL_MARKS].after)) {
        if (clock_seconds() - began > REST_S)
            return false;
        cuda_rest(began);
    }
    return true;
}

static void nccl_leave(struct device_group *group, int rank, bool broken)
{
    struct nccl_end *end = &group->ends[rank];
    nccl_gone(group, rank, broken || (end->marks && !is_at_rest(end)));
    nccl_marks_close(group, end);
    group_end_close(&end->base);
}

/* One collective operation on gradients first..end-1 by the rank's own stream. */
static ncclResult_t operate(const struct device_group *group, int rank, bool broadcast,
                            size_t first, size_t end)
{
    const struct nccl_end *self = &group->ends[rank];
    float *grads = group_gradients(&group->request, self->base.replica) + first;
    if (broadcast)
        return group->api->Broadcast(grads, grads, end - first, ncclFloat32, 0, self->comm,
                                     self->base.stream);
    if (group->request.method == SYNC_ALLREDUCE)
        return group->api->AllReduce(grads, grads, end - first, ncclFloat32, ncclSum, self->comm,
                                     self->base.stream);
    return group->api->Reduce(grads, grads, end - first, ncclFloat32, ncclSum, 0, self->comm,
                              self->base.stream);
}

/* The same operation on several buckets, by one launch. */
static bool operate_on_buckets(struct device_group *group, int rank, bool broadcast, int first,
                               int end, struct error *err)
{
    const size_t *ends = group->request.ends;
    const char *what = broadcast                                 ? "broadcast"
                       : group->request.method == SYNC_ALLREDUCE ? "all-reduce"
                                                                 : "reduce";
    bool several = end - first > 1;
    if (!nccl_enter(group, rank, what, group->request.limit_s, err))
        return false;
    ncclResult_t status = several ? group->api->GroupStart() : ncclSuccess;
    bool opened = several && status == ncclSuccess;
    for (int i = first; i < end && status == ncclSuccess; i++)
        status = operate(group, rank, broadcast, i > 0 ? ends[i - 1] : 0, ends[i]);
    ncclResult_t ended = opened ? group->api->GroupEnd() : ncclSuccess;
    return nccl_return(group, rank, what, status != ncclSuccess ? status : ended, err);
}

/* Operations of one group have no order, so sums are sent out by another. */
static bool nccl_reduce(struct device_group *group, int rank, int first, int end, struct error *err)
{
    struct group_end *base = &group->ends[rank].base;
    if (!group_end_follow(base, err) ||
        (first == 0 && !nccl_clock_begin(group, &group->ends[rank], err)))
        return error_prefix(err, "%s", base->name);
    return operate_on_buckets(group, rank, false, first, end, err) &&
           (group->request.method != SYNC_REDUCE_BROADCAST ||
            operate_on_buckets(group, rank, true, first, end, err));
}

/* The device's stream waits until the reductions are done. */
static bool follow_back(struct nccl_end *end, const char *what, struct error *err)
{
    struct nccl_mark *mark = nccl_mark_before(end, what, err);
    return (mark && cuda_check(cudaEventRecord(end->done, end->base.stream), "event", err) &&
            cuda_check(cudaStreamWaitEvent(end->base.device->stream, end->done, 0),
                       "wait for an event", err) &&
            nccl_mark_after(end, mark, err)) ||
           error_prefix(err, "%s", end->base.name);
}

static bool nccl_finish(struct device_group *group, int rank, struct error *err)
{
    struct nccl_end *end = &group->ends[rank];
    return nccl_intact(group, err) && nccl_clock_end(group, end, err) &&
           follow_back(end, "reduction of gradients", err);
}

static bool nccl_send_params(struct device_group *group, int rank, struct error *err)
{
    static const char what[] = "broadcast of parameters";
    struct nccl_end *end = &group->ends[rank];
    const struct replica *replica = end->base.replica;
    if (!group_end_follow(&end->base, err))
        return error_prefix(err, "%s", end->base.name);
    return nccl_enter(group, rank, what, group->request.limit_s, err) &&
           nccl_return(group, rank, what,
                       group->api->Broadcast(replica->params, replica->params, replica->count,
                                             ncclFloat32, 0, end->comm, end->base.stream),
                       err) &&
           (rank + group->first == 0 ||
            cuda_replica_copy_params(replica, 0, replica->count, end->base.stream, err)) &&
           follow_back(end, what, err);
}

static bool nccl_settle(struct device_group *group, int rank, struct error *err)
{
    const struct device *device = group->ends[rank].base.device;
    return cuda_wait(device, device->stream, "the reductions by NCCL", err);
}

/* Before an operation on the device's own stream. */
static struct nccl_mark *begin_on_stream(struct device_group *group, int rank, const char *what,
                                         struct error *err)
{
    const struct nccl_end *end = &group->ends[rank];
    if (!nccl_intact(group, err))
        return NULL;
    struct nccl_mark *mark = nccl_mark_before(&group->ends[rank], what, err);
    if (!mark)
        error_prefix(err, "%s", end->base.name);
    return mark && nccl_enter(group, rank, what, group->request.limit_s, err) ? mark : NULL;
}

/* After it; `status` is what NCCL said. */
static bool end_on_stream(struct device_group *group, int rank, struct nccl_mark *mark,
                          ncclResult_t status, struct error *err)
{
    struct nccl_end *end = &group->ends[rank];
    return nccl_return(group, rank, mark->what, status, err) &&
           (nccl_mark_after(end, mark, err) || error_prefix(err, "%s", end->base.name));
}

static bool nccl_sum(struct device_group *group, int rank, const double *own, double *all,
                     size_t count, struct error *err)
{
    const struct nccl_end *end = &group->ends[rank];
    struct nccl_mark *mark = begin_on_stream(group, rank, "sums of a BatchNorm", err);
    if (!mark)
        return false;
    ncclResult_t status = group->api->AllReduce(own, all, count, ncclFloat64, ncclSum, end->comm,
                                                end->base.device->stream);
    return end_on_stream(group, rank, mark, status, err);
}

static bool nccl_gather(struct device_group *group, int rank, void *parts, size_t bytes,
                        struct error *err)
{
    const struct nccl_end *end = &group->ends[rank];
    const char *own = (const char *)parts + (size_t)(group->first + rank) * bytes;
    struct nccl_mark *mark = begin_on_stream(group, rank, "all-gather of a layer", err);
    if (!mark)
        return false;
    ncclResult_t status =
        group->api->AllGather(own, parts, bytes, ncclInt8, end->comm, end->base.device->stream);
    return end_on_stream(group, rank, mark, status, err);
}

static bool nccl_scatter(struct device_group *group, int rank, void *parts, size_t count,
                         enum number_type type, struct error *err)
{
    const struct nccl_end *end = &group->ends[rank];
    const bool half = type == TYPE_BF16;
    char *own = (char *)parts + (size_t)(group->first + rank) * count * (half ? 2 : sizeof(float));
    struct nccl_mark *mark = begin_on_stream(group, rank, "reduce-scatter of gradients", err);
    if (!mark)
        return false;
    ncclResult_t status =
        group->api->ReduceScatter(parts, own, count, half ? ncclBfloat16 : ncclFloat32, ncclSum,
                                  end->comm, end->base.device->stream);
    return end_on_stream(group, rank, mark, status, err);
}

const struct collective nccl_collective = {
    .make_id = nccl_make_id,
    .create = nccl_create,
    .destroy = nccl_guard_end,
    .describe = nccl_describe,
    .overlaps = true,
    .join = nccl_join,
    .leave = nccl_leave,
    .reduce = nccl_reduce,
    .finish = nccl_finish,
    .send_params = nccl_send_params,
    .settle = nccl_settle,
    .sum = nccl_sum,
    .gather = nccl_gather,
    .scatter = nccl_scatter,
    .summed_s = nccl_summed_s,
    .check = nccl_check_rank,
};

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/device/cuda/collective/group.h"
#include "engine/device/cuda/replica/arenas.h"
#include "engine/device/cuda/runtime/wait.h"

/*
 * Reductions by own kernels, which read the gradients where they are: in the same GPU's memory, or
 * in another's over the bus (peer access). Sums are made in the order of the devices, so the bits
 * are those that the host would make.
 *
 * Between GPUs there are events: all that a rank reads was queued before an event that its stream
 * waits for; the barriers on the host only make sure that events are recorded before others wait
 * for them. What a rank reads is not written before the step ends on all: nobody's pass begins
 * earlier, and everybody waits for his own stream.
 */

struct device_group {
    struct collective_request request;
    struct group_end *ends;
    cudaEvent_t *summed; /* each rank's slice is done */
};

/* For how long a broken group waits for kernels that still read others' memory, in seconds. */
static const double DRAIN_S = 1;

static bool check_access(const struct collective_request *request, struct error *err)
{
    for (int i = 0; i < request->count; i++) {
        for (int j = 0; j < request->count; j++) {
            int from = request->devices[i]->ordinal, to = request->devices[j]->ordinal, can = 0;
            if (from == to)
                continue;
            if (!cuda_check(cudaDeviceCanAccessPeer(&can, from, to), "peer access", err))
                return false;
            if (!can)
                return error_set(err, ERROR_FAILED, "%s cannot read the memory of %s",
                                 request->names[i], request->names[j]);
        }
    }
    return true;
}

static void peer_destroy(struct device_group *group)
{
    free(group->ends);
    free(group->summed);
    free(group);
}

static bool peer_create(const struct collective_request *request, struct device_group **out,
                        struct error *err)
{
    if (!check_access(request, err))
        return false;
    struct device_group *group = calloc(1, sizeof *group);
    if (!group)
        return error_memory(err, "reductions between GPUs");
    group->request = *request;
    group->ends = calloc((size_t)request->count, sizeof *group->ends);
    group->summed = calloc((size_t)request->count, sizeof *group->summed);
    if (!group->ends || !group->summed) {
        peer_destroy(group);
        return error_memory(err, "reductions between GPUs");
    }
    for (int i = 0; i < request->count; i++)
        group->ends[i] = (struct group_end){.device = request->devices[i],
                                            .replica = request->replicas[i],
                                            .name = request->names[i]};
    *out = group;
    return true;
}

static void peer_describe(const struct device_group *group, char *buffer, size_t size)
{
    static const char *const methods[] = {
        [SYNC_ALLREDUCE] = "reduce-scatter in device order, then all-gather",
        [SYNC_REDUCE_BROADCAST] = "device 0 sums the gradients, the others copy the result",
        [SYNC_CENTRAL] = "parameters sent out from device 0, gradients summed there",
    };
    snprintf(buffer, size, "GPUs read each other's memory: %s", methods[group->request.method]);
}

/* The calling thread's GPU may read the others from here on. */
static bool open_access(const struct device_group *group, int rank, struct error *err)
{
    for (int i = 0; i < group->request.count; i++) {
        const struct device *other = group->ends[i].device;
        if (other->ordinal == group->ends[rank].device->ordinal)
            continue;
        cudaError_t status = cudaDeviceEnablePeerAccess(other->ordinal, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError(); /* by an earlier run: take the error back */
        else if (!cuda_check(status, "peer access", err))
            return error_prefix(err, "%s to %s", group->ends[rank].name, group->ends[i].name);
    }
    return true;
}

static bool peer_join(struct device_group *group, int rank, struct error *err)
{
    struct group_end *end = &group->ends[rank];
    return cuda_select(end->device, err) && open_access(group, rank, err) &&
           group_end_open(end, err) &&
           cuda_check(cudaEventCreateWithFlags(&group->summed[rank], cudaEventDisableTiming),
                      "event for reductions", err);
}

/* Others give their memory back when every rank has left. */
static void drain(const struct group_end *end)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < (int)(DRAIN_S * 1000) && cudaStreamQuery(end->stream) == cudaErrorNotReady;
         i++)
        nanosleep(&pause, NULL);
    (void)cudaGetLastError(); /* "not ready" is kept like an error */
}

static void peer_leave(struct device_group *group, int rank, bool broken)
{
    struct group_end *end = &group->ends[rank];
    if (broken && end->stream)
        drain(end);
    if (group->summed[rank])
        cudaEventDestroy(group->summed[rank]);
    group->summed[rank] = NULL;
    group_end_close(end);
}

/* All at once in `finish`: sums need what every rank has computed. */
static bool peer_reduce(struct device_group *group, int rank, int first, int end, struct error *err)
{
    (void)group;
    (void)rank;
    (void)first;
    (void)end;
    (void)err;
    return true;
}

/* This rank's stream waits for what all have recorded; they have, when they have met. */
static bool meet_events(struct device_group *group, int rank, bool summed, struct error *err)
{
    const struct collective_request *request = &group->request;
    if (!request->barrier(request->context, rank, err))
        return false;
    for (int i = 0; i < request->count; i++) {
        cudaEvent_t event = summed ? group->summed[i] : group->ends[i].ready;
        if (i != rank && !cuda_check(cudaStreamWaitEvent(group->ends[rank].stream, event, 0),
                                     "wait for another GPU", err))
            return false;
    }
    return true;
}

/* Which gradients a rank sums: multiples of 16, none where another does it all. */
static void slice_of(const struct device_group *group, int rank, size_t *begin, size_t *end)
{
    size_t count = group_summed(&group->request), lines = count / 16;
    size_t k = (size_t)group->request.count, i = (size_t)rank;
    *begin = *end = 0;
    if (group->request.method == SYNC_ALLREDUCE) {
        *begin = 16 * (lines * i / k);
        *end = i + 1 == k ? count : 16 * (lines * (i + 1) / k);
    } else if (rank == 0) {
        *end = count;
    }
}

static bool sum_slice(struct device_group *group, int rank, struct error *err)
{
    struct group_end *end = &group->ends[rank];
    const float *sources[SPEC_MAX_DEVICES];
    size_t first, last;
    slice_of(group, rank, &first, &last);
    for (int i = 0; i < group->request.count; i++)
        sources[i] = group_gradients(&group->request, group->ends[i].replica) + first;
    return (first == last ||
            cuda_check(kernel_sum_sources(end->stream, last - first, sources, group->request.count,
                                          group_gradients(&group->request, end->replica) + first),
                       "sum of gradients", err)) &&
           cuda_check(cudaEventRecord(group->summed[rank], end->stream), "event", err);
}

static bool copy(struct group_end *end, float *to, const float *from, size_t count,
                 struct error *err)
{
    return cuda_check(
        cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, end->stream),
        "copy from another GPU", err);
}

static bool gather(struct device_group *group, int rank, struct error *err)
{
    struct group_end *end = &group->ends[rank];
    for (int i = 0; i < group->request.count; i++) {
        size_t first, last;
        slice_of(group, i, &first, &last);
        if (i != rank && first != last &&
            !copy(end, group_gradients(&group->request, end->replica) + first,
                  group_gradients(&group->request, group->ends[i].replica) + first, last - first,
                  err))
            return false;
    }
    return true;
}

static bool peer_finish(struct device_group *group, int rank, struct error *err)
{
    struct group_end *end = &group->ends[rank];
    if (!group_end_follow(end, err) || !meet_events(group, rank, false, err) ||
        !sum_slice(group, rank, err))
        return false;
    if (group->request.method != SYNC_CENTRAL &&
        (!meet_events(group, rank, true, err) || !gather(group, rank, err)))
        return false;
    return cuda_wait(end->device, end->stream, "the sum of gradients", err);
}

static bool peer_send_params(struct device_group *group, int rank, struct error *err)
{
    struct group_end *end = &group->ends[rank];
    const struct replica *from = group->ends[0].replica;
    if (!group_end_follow(end, err) || !meet_events(group, rank, false, err) ||
        (rank != 0 && (!copy(end, end->replica->params, from->params, from->count, err) ||
                       !cuda_replica_copy_params(from, 0, from->count, end->stream, err))))
        return false;
    return cuda_wait(end->device, end->stream, "the parameters of device 0", err);
}

const struct collective peer_collective = {
    .create = peer_create,
    .destroy = peer_destroy,
    .describe = peer_describe,
    .join = peer_join,
    .leave = peer_leave,
    .reduce = peer_reduce,
    .finish = peer_finish,
    .send_params = peer_send_params,
};

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/collective/group.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * Reductions by own kernels, which read the gradients where they are: in the same GPU's memory, or
 * in another's over the bus (peer access). Sums are made in the order of the devices, so the bits
 * are those that the host would make.
 *
 * Between GPUs there are events: all that a member reads was queued before an event that its stream
 * waits for; the barriers on the host only make sure that events are recorded before others wait
 * for them. What a member reads is not written before the step ends on all: nobody's pass begins
 * earlier, and everybody waits for his own stream.
 */

struct link {
    struct link_request request;
    struct group_end *ends;
    cudaEvent_t *summed; /* each member's slice is done */
};

/* For how long a broken link waits for kernels that still read others' memory, in seconds. */
static const double DRAIN_S = 1;

static bool check_access(const struct link_request *request, struct error *err)
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

static void peer_destroy(struct link *link)
{
    free(link->ends);
    free(link->summed);
    free(link);
}

static bool peer_create(const struct link_request *request, struct link **out, struct error *err)
{
    if (!check_access(request, err))
        return false;
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return error_memory(err, "links between GPUs");
    link->request = *request;
    link->ends = calloc((size_t)request->count, sizeof *link->ends);
    link->summed = calloc((size_t)request->count, sizeof *link->summed);
    if (!link->ends || !link->summed) {
        peer_destroy(link);
        return error_memory(err, "links between GPUs");
    }
    for (int i = 0; i < request->count; i++)
        link->ends[i] = (struct group_end){.device = request->devices[i],
                                           .replica = request->replicas[i],
                                           .name = request->names[i]};
    *out = link;
    return true;
}

static void peer_describe(const struct link *link, char *buffer, size_t size)
{
    static const char *const methods[] = {
        [SYNC_ALLREDUCE] = "reduce-scatter in device order, then all-gather",
        [SYNC_REDUCE_BROADCAST] = "device 0 sums the gradients, the others copy the result",
        [SYNC_CENTRAL] = "parameters sent out from device 0, gradients summed there",
    };
    snprintf(buffer, size, "GPUs read each other's memory: %s", methods[link->request.method]);
}

/* The calling thread's GPU may read the others from here on. */
static bool open_access(const struct link *link, int member, struct error *err)
{
    for (int i = 0; i < link->request.count; i++) {
        const struct device *other = link->ends[i].device;
        if (other->ordinal == link->ends[member].device->ordinal)
            continue;
        cudaError_t status = cudaDeviceEnablePeerAccess(other->ordinal, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError(); /* by an earlier run: take the error back */
        else if (!cuda_check(status, "peer access", err))
            return error_prefix(err, "%s to %s", link->ends[member].name, link->ends[i].name);
    }
    return true;
}

static bool peer_join(struct link *link, int member, struct error *err)
{
    struct group_end *end = &link->ends[member];
    return cuda_select(end->device, err) && open_access(link, member, err) &&
           group_end_open(end, err) &&
           cuda_check(cudaEventCreateWithFlags(&link->summed[member], cudaEventDisableTiming),
                      "event for reductions", err);
}

/* Others give their memory back when every member has left. */
static void drain(const struct group_end *end)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < (int)(DRAIN_S * 1000) && cudaStreamQuery(end->stream) == cudaErrorNotReady;
         i++)
        nanosleep(&pause, NULL);
    (void)cudaGetLastError(); /* "not ready" is kept like an error */
}

static void peer_leave(struct link *link, int member, bool broken)
{
    struct group_end *end = &link->ends[member];
    if (broken && end->stream)
        drain(end);
    if (link->summed[member])
        cudaEventDestroy(link->summed[member]);
    link->summed[member] = NULL;
    group_end_close(end);
}

/* All at once in `finish`: sums need what every member has computed. */
static bool peer_reduce(struct link *link, int member, int first, int end, struct error *err)
{
    (void)link;
    (void)member;
    (void)first;
    (void)end;
    (void)err;
    return true;
}

/* This member's stream waits for what all have recorded; they have, when they have met. */
static bool meet_events(struct link *link, int member, bool summed, struct error *err)
{
    const struct link_request *request = &link->request;
    if (!request->meet(request->context, member, err))
        return false;
    for (int i = 0; i < request->count; i++) {
        cudaEvent_t event = summed ? link->summed[i] : link->ends[i].ready;
        if (i != member && !cuda_check(cudaStreamWaitEvent(link->ends[member].stream, event, 0),
                                       "wait for another GPU", err))
            return false;
    }
    return true;
}

/* Which gradients a member sums: multiples of 16, none where another does it all. */
static void slice_of(const struct link *link, int member, size_t *begin, size_t *end)
{
    size_t count = link->ends[0].replica->count, lines = count / 16;
    size_t k = (size_t)link->request.count, i = (size_t)member;
    *begin = *end = 0;
    if (link->request.method == SYNC_ALLREDUCE) {
        *begin = 16 * (lines * i / k);
        *end = i + 1 == k ? count : 16 * (lines * (i + 1) / k);
    } else if (member == 0) {
        *end = count;
    }
}

static bool sum_slice(struct link *link, int member, struct error *err)
{
    struct group_end *end = &link->ends[member];
    const float *sources[SPEC_MAX_DEVICES];
    size_t first, last;
    slice_of(link, member, &first, &last);
    for (int i = 0; i < link->request.count; i++)
        sources[i] = link->ends[i].replica->grads + first;
    return (first == last ||
            cuda_check(kernel_sum_sources(end->stream, last - first, sources, link->request.count,
                                          end->replica->grads + first),
                       "sum of gradients", err)) &&
           cuda_check(cudaEventRecord(link->summed[member], end->stream), "event", err);
}

static bool copy(struct group_end *end, float *to, const float *from, size_t count,
                 struct error *err)
{
    return cuda_check(
        cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToDevice, end->stream),
        "copy from another GPU", err);
}

static bool gather(struct link *link, int member, struct error *err)
{
    struct group_end *end = &link->ends[member];
    for (int i = 0; i < link->request.count; i++) {
        size_t first, last;
        slice_of(link, i, &first, &last);
        if (i != member && first != last &&
            !copy(end, end->replica->grads + first, link->ends[i].replica->grads + first,
                  last - first, err))
            return false;
    }
    return true;
}

static bool peer_finish(struct link *link, int member, struct error *err)
{
    struct group_end *end = &link->ends[member];
    if (!group_end_follow(end, err) || !meet_events(link, member, false, err) ||
        !sum_slice(link, member, err))
        return false;
    if (link->request.method != SYNC_CENTRAL &&
        (!meet_events(link, member, true, err) || !gather(link, member, err)))
        return false;
    return cuda_wait(end->device, end->stream, "the sum of gradients", err);
}

static bool peer_send_params(struct link *link, int member, struct error *err)
{
    struct group_end *end = &link->ends[member];
    const struct replica *from = link->ends[0].replica;
    if (!group_end_follow(end, err) || !meet_events(link, member, false, err) ||
        (member != 0 && (!copy(end, end->replica->params, from->params, from->count, err) ||
                         !group_end_take_params(end, err))))
        return false;
    return cuda_wait(end->device, end->stream, "the parameters of device 0", err);
}

const struct links peer_links = {
    .create = peer_create,
    .destroy = peer_destroy,
    .describe = peer_describe,
    .join = peer_join,
    .leave = peer_leave,
    .reduce = peer_reduce,
    .finish = peer_finish,
    .send_params = peer_send_params,
};

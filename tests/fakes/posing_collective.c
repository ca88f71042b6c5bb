/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fakes/posing_backend.h"

/*
 * A collective for the posing GPUs. What is ready is copied at once, as a reduction during the pass
 * would read it, so that a bucket which was not complete gives wrong sums.
 */

struct rank {
    struct replica *replica;
    float *ready; /* the gradients as they were when their bucket was said to be ready */
    int buckets;  /* of this step */
    bool reduced; /* ever */
    bool joined;
};

struct device_group {
    struct collective_request request;
    struct rank ranks[SPEC_MAX_DEVICES];
};

static bool create(const struct collective_request *request, struct device_group **out,
                   struct error *err)
{
    if (posing.collective_refuses)
        return error_set(err, ERROR_FAILED, "this collective does not like %s", request->names[0]);
    struct device_group *group = calloc(1, sizeof *group);
    if (!group)
        return error_memory(err, "collective");
    group->request = *request;
    for (int i = 0; i < request->count; i++)
        group->ranks[i].replica = request->replicas[i];
    *out = group;
    return true;
}

static void destroy(struct device_group *group)
{
    for (int i = 0; i < group->request.count; i++) {
        posing_check(!group->ranks[i].joined);
        free(group->ranks[i].ready);
    }
    free(group);
}

static void describe(const struct device_group *group, char *buffer, size_t size)
{
    snprintf(buffer, size, "pretended collective: %d buckets", group->request.buckets);
}

static bool join(struct device_group *group, int rank, struct error *err)
{
    struct rank *self = &group->ranks[rank];
    if (posing.collective_breaks && rank == 1)
        return error_set(err, ERROR_FAILED, "the collective broke");
    if (!posing_fault(POSING_JOIN, err))
        return false;
    self->ready = calloc(self->replica->count, sizeof *self->ready);
    self->joined = self->ready != NULL;
    atomic_fetch_add(&posing.joined, self->joined);
    return self->joined || error_memory(err, "collective");
}

static void leave(struct device_group *group, int rank, bool broken)
{
    struct rank *self = &group->ranks[rank];
    posing_check(!broken || group->request.called_off(group->request.context));
    /* Others may still be reading what is ready. */
    atomic_fetch_add(&posing.left, self->joined);
    self->joined = false;
}

static bool reduce(struct device_group *group, int rank, int first, int end, struct error *err)
{
    struct rank *self = &group->ranks[rank];
    const struct collective_request *request = &group->request;
    size_t begin = first > 0 ? request->ends[first - 1] : 0;
    (void)err;
    posing_check(self->joined && first == self->buckets && end <= request->buckets);
    self->buckets = end;
    /* Nobody may wait for others on a GPU before all have done what their first pass loads. */
    posing_check(self->reduced || atomic_load(&posing.first_passes) >= request->count);
    self->reduced = true;
    memcpy(self->ready + begin, self->replica->grads + begin,
           (request->ends[end - 1] - begin) * sizeof(float));
    atomic_fetch_add(&posing.buckets, end - first);
    if (posing_in_pass())
        atomic_fetch_add(&posing.overlaps, end - first);
    return true;
}

static bool finish(struct device_group *group, int rank, struct error *err)
{
    struct rank *self = &group->ranks[rank];
    const struct collective_request *request = &group->request;
    posing_check(self->buckets == request->buckets);
    self->buckets = 0;
    if (!posing_fault(POSING_REDUCTION, err) || !request->barrier(request->context, rank, err))
        return false;
    for (size_t i = 0; i < self->replica->count; i++) {
        float sum = group->ranks[0].ready[i];
        for (int j = 1; j < request->count; j++)
            sum += group->ranks[j].ready[i];
        if (request->method != SYNC_CENTRAL || rank == 0)
            self->replica->grads[i] = sum;
    }
    return request->barrier(request->context, rank, err);
}

static bool send_params(struct device_group *group, int rank, struct error *err)
{
    struct replica *to = group->ranks[rank].replica, *from = group->ranks[0].replica;
    if (!group->request.barrier(group->request.context, rank, err))
        return false;
    if (rank != 0)
        memcpy(to->params, from->params, to->count * sizeof *to->params);
    return group->request.barrier(group->request.context, rank, err);
}

const struct collective posing_collective = {
    .create = create,
    .destroy = destroy,
    .describe = describe,
    .overlaps = true,
    .join = join,
    .leave = leave,
    .reduce = reduce,
    .finish = finish,
    .send_params = send_params,
};

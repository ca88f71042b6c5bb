/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fakes/posing_backend.h"

/*
 * Links for the posing GPUs. What is ready is copied at once, as a reduction beside the pass would
 * read it, so that a piece which was not complete gives wrong sums.
 */

struct member {
    struct replica *replica;
    float *ready; /* the gradients as they were when their piece was said to be ready */
    int pieces;   /* of this step */
    bool reduced; /* ever */
    bool joined;
};

struct link {
    struct link_request request;
    struct member members[SPEC_MAX_DEVICES];
};

static bool create(const struct link_request *request, struct link **out, struct error *err)
{
    if (posing.links_refuse)
        return error_set(err, ERROR_FAILED, "these links do not like %s", request->names[0]);
    struct link *link = calloc(1, sizeof *link);
    if (!link)
        return error_memory(err, "links");
    link->request = *request;
    for (int i = 0; i < request->count; i++)
        link->members[i].replica = request->replicas[i];
    *out = link;
    return true;
}

static void destroy(struct link *link)
{
    for (int i = 0; i < link->request.count; i++) {
        posing_check(!link->members[i].joined);
        free(link->members[i].ready);
    }
    free(link);
}

static void describe(const struct link *link, char *buffer, size_t size)
{
    snprintf(buffer, size, "pretended links: %d pieces", link->request.pieces);
}

static bool join(struct link *link, int member, struct error *err)
{
    struct member *self = &link->members[member];
    if (posing.links_break && member == 1)
        return error_set(err, ERROR_FAILED, "the links broke");
    if (!posing_fault(POSING_JOIN, err))
        return false;
    self->ready = calloc(self->replica->count, sizeof *self->ready);
    self->joined = self->ready != NULL;
    atomic_fetch_add(&posing.joined, self->joined);
    return self->joined || error_memory(err, "links");
}

static void leave(struct link *link, int member, bool broken)
{
    struct member *self = &link->members[member];
    posing_check(!broken || link->request.called_off(link->request.context));
    /* Others may still be reading what is ready. */
    atomic_fetch_add(&posing.left, self->joined);
    self->joined = false;
}

static bool reduce(struct link *link, int member, int first, int end, struct error *err)
{
    struct member *self = &link->members[member];
    const struct link_request *request = &link->request;
    size_t begin = first > 0 ? request->ends[first - 1] : 0;
    (void)err;
    posing_check(self->joined && first == self->pieces && end <= request->pieces);
    self->pieces = end;
    /* Nobody may wait for others on a GPU before all have done what their first pass loads. */
    posing_check(self->reduced || atomic_load(&posing.first_passes) >= request->count);
    self->reduced = true;
    memcpy(self->ready + begin, self->replica->grads + begin,
           (request->ends[end - 1] - begin) * sizeof(float));
    atomic_fetch_add(&posing.pieces, end - first);
    if (posing_in_pass())
        atomic_fetch_add(&posing.overlaps, end - first);
    return true;
}

static bool finish(struct link *link, int member, struct error *err)
{
    struct member *self = &link->members[member];
    const struct link_request *request = &link->request;
    posing_check(self->pieces == request->pieces);
    self->pieces = 0;
    if (!posing_fault(POSING_REDUCTION, err) || !request->meet(request->context, member, err))
        return false;
    for (size_t i = 0; i < self->replica->count; i++) {
        float sum = link->members[0].ready[i];
        for (int j = 1; j < request->count; j++)
            sum += link->members[j].ready[i];
        if (request->method != SYNC_CENTRAL || member == 0)
            self->replica->grads[i] = sum;
    }
    return request->meet(request->context, member, err);
}

static bool send_params(struct link *link, int member, struct error *err)
{
    struct replica *to = link->members[member].replica, *from = link->members[0].replica;
    if (!link->request.meet(link->request.context, member, err))
        return false;
    if (member != 0)
        memcpy(to->params, from->params, to->count * sizeof *to->params);
    return link->request.meet(link->request.context, member, err);
}

const struct links posing_links = {
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

/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/choose.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/train/sync/across.h"
#include "engine/train/sync/collective.h"
#include "engine/train/sync/host.h"
#include "engine/train/sync/transport.h"

static bool one_layout(const struct sync_group *group)
{
    const struct sync_end *first = &group->ends[0];
    for (int i = 1; i < group->size; i++) {
        const struct sync_end *end = &group->ends[i];
        if (end->backend->kind != first->backend->kind ||
            (group->replicated == 0 && !group->disjoint &&
             (end->replica->count != first->replica->count ||
              end->replica->statistics_count != first->replica->statistics_count)))
            return false;
    }
    return true;
}

/* Gradients that are summed. */
static size_t summed(const struct sync_group *group)
{
    return group->disjoint         ? 0
           : group->replicated > 0 ? group->replicated
                                   : group->ends[0].replica->count;
}

static bool can_be_read(const struct sync_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (!group->ends[i].backend->arena_read)
            return false;
    return true;
}

static bool all_in_host_memory(const struct sync_group *group)
{
    for (int i = 0; i < group->size; i++)
        if (!group->ends[i].replica->host_accessible)
            return false;
    return true;
}

static bool wait_for_all(void *context, int rank, struct error *err)
{
    return sync_barrier(context, rank, err);
}

static bool called_off(void *context)
{
    const struct sync_group *group = context;
    return barrier_is_aborted(group->barrier);
}

static bool try_collective(struct sync_group *group, const struct collective *collective,
                           const struct collective_world *world, struct error *err)
{
    struct device *devices[SPEC_MAX_DEVICES];
    struct replica *replicas[SPEC_MAX_DEVICES];
    for (int i = 0; i < group->size; i++) {
        devices[i] = group->ends[i].device;
        replicas[i] = group->ends[i].replica;
    }
    const struct collective_request request = {
        .count = group->size,
        .devices = devices,
        .replicas = replicas,
        .names = group->names,
        .method = group->method,
        .ends = group->bucket_ends,
        .buckets = group->bucket_count,
        .during_pass = group->overlaps,
        .gathers = group->gathers,
        .limit_s = group->limit_s,
        .barrier = wait_for_all,
        .called_off = called_off,
        .context = group,
        .world = world,
    };
    if (!collective->create(&request, &group->device_group, err))
        return false;
    group->collective = collective;
    return true;
}

/* The first of the devices' own collectives, from *skip on, that serves. */
static bool find_collective(struct sync_group *group, int *skip, struct error *why)
{
    const struct collective *const *list = group->ends[0].backend->collectives;
    while (list && list[*skip]) {
        const struct collective *next = list[(*skip)++];
        if ((next->gather || !group->disjoint) && try_collective(group, next, NULL, why))
            return true;
    }
    return false;
}

/* The first of them that joins devices of several processes. */
static const struct collective *find_spanning(const struct sync_group *group, struct error *why)
{
    const struct collective *const *list = group->ends[0].backend->collectives;
    for (; list && *list; list++)
        if ((*list)->make_id)
            return *list;
    error_set(why, ERROR_FAILED, "built without NCCL");
    return NULL;
}

/* What the first host has made for all. */
struct offer {
    bool ok;
    char reason[sizeof((struct error *)NULL)->text];
    unsigned char id[COLLECTIVE_ID_BYTES];
};

static void make_offer(const struct collective *collective, struct offer *offer, struct error *why)
{
    offer->ok = collective && collective->make_id(offer->id, why);
    if (!offer->ok)
        snprintf(offer->reason, sizeof offer->reason, "%s", why->text);
}

/* A collective of the devices of all hosts, which are of one layout, or, not *made, why there is
 * none. */
static bool make_spanning(struct sync_group *group, bool *made, struct error *why,
                          struct error *err)
{
    struct host_link *link = group->link;
    const struct collective *collective = find_spanning(group, why);
    struct offer offer = {.ok = false};
    if (link->index == 0)
        make_offer(collective, &offer, why);
    if (!link->broadcast(link->context, 0, &offer, sizeof offer, err))
        return false;
    if (!offer.ok) {
        *made = false;
        error_set(why, ERROR_FAILED, "%s: %s", link->hosts.name[0], offer.reason);
        return true;
    }
    const struct collective_world world = {sync_world_rank(group, 0), sync_world_size(group),
                                           offer.id};
    *made = collective && try_collective(group, collective, &world, why);
    if (!across_agree(group, made, why, err))
        return false;
    if (!*made)
        sync_close(group);
    return true;
}

static bool use_collective(struct sync_group *group)
{
    group->transport = SYNC_COLLECTIVE;
    group->algorithm = sync_on_devices(group->method);
    group->sums_inside = group->sync_bn && group->collective->sum != NULL;
    group->collective->describe(group->device_group, group->description, sizeof group->description);
    return true;
}

static void use_host(struct sync_group *group, enum sync_transport transport, const char *why)
{
    static const char *const names[] = {
        [SYNC_SHARED] = "shared memory",
        [SYNC_STAGED] = "through host memory",
        [SYNC_CANONICAL] = "through host memory in the network's own order",
    };
    group->transport = transport;
    group->sums_inside = false;
    group->algorithm = group->link ? sync_across(group->method) : sync_on_host(group->method);
    snprintf(group->description, sizeof group->description, "%s%s%s%s: %s", names[transport],
             *why ? " (" : "", why, *why ? ")" : "", group->algorithm->description);
}

static void choose_shared(struct sync_group *group, size_t count)
{
    group->count = count;
    use_host(group, SYNC_SHARED, "");
    for (int i = 0; i < group->size; i++) {
        const struct replica *replica = group->ends[i].replica;
        group->ends[i].grads = replica->grads + replica->count - count;
    }
}

static void describe_disjoint(struct sync_group *group, const char *why)
{
    if (group->disjoint)
        snprintf(group->description, sizeof group->description,
                 "none: each device has parameters of its own%s%.200s%s",
                 *why ? "; GPUs copy each other's layers (" : "", why, *why ? ")" : "");
}

/* Room for the running statistics of one rank, in any layout. */
static bool make_statistics(struct sync_group *group, struct error *err)
{
    const struct replica *first = group->ends[0].replica;
    free(group->statistics);
    group->statistics =
        calloc(first->statistics_count + first->net->value_count, sizeof *group->statistics);
    return group->statistics || error_memory(err, "running statistics in host memory");
}

bool sync_choose_host(struct sync_group *group, const char *why, struct error *err)
{
    if (all_in_host_memory(group)) {
        choose_shared(group, summed(group));
        return true;
    }
    group->count = summed(group);
    if (!make_statistics(group, err))
        return false;
    use_host(group, SYNC_STAGED, why);
    return true;
}

/* The devices of this host, and those of the others. */
static bool choose_across(struct sync_group *group, int *skip, struct error *why, struct error *err)
{
    const struct replica *first = group->ends[0].replica;
    bool alike, shared, made = false;
    if (!across_one_layout(group, one_layout(group), &alike, err))
        return false;
    shared = alike && all_in_host_memory(group);
    if (alike && !shared && sync_world_size(group) > 1 && (*skip)++ == 0 &&
        !make_spanning(group, &made, why, err))
        return false;
    group->count = alike ? first->count : first->net->value_count;
    if (made)
        use_collective(group);
    else if (shared)
        choose_shared(group, first->count);
    else
        use_host(group, alike ? SYNC_STAGED : SYNC_CANONICAL, why->text);
    return make_statistics(group, err) && across_create(group, err);
}

bool sync_choose(struct sync_group *group, int *skip, struct error *why, struct error *err)
{
    const struct replica *first = group->ends[0].replica;
    bool alike = one_layout(group), host = all_in_host_memory(group);
    if (group->link)
        return choose_across(group, skip, why, err);
    group->count = summed(group);
    const bool shared = group->size == 1 || (alike && host);
    if (!shared && !group->disjoint && !make_statistics(group, err))
        return false;
    if (!shared && alike && find_collective(group, skip, why))
        return use_collective(group);
    if (shared || group->disjoint) {
        choose_shared(group, group->count);
        describe_disjoint(group, why->text);
        return true;
    }
    alike = alike && can_be_read(group);
    if (!alike)
        group->count = first->net->value_count;
    use_host(group, alike ? SYNC_STAGED : SYNC_CANONICAL, why->text);
    return true;
}

void sync_close(struct sync_group *group)
{
    if (group->device_group)
        group->collective->destroy(group->device_group);
    group->device_group = NULL;
    across_destroy(group);
    group->sums_inside = false;
    free(group->statistics);
    group->statistics = NULL;
}

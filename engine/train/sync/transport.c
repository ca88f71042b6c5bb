/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/transport.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/train/sync/across.h"

/*
 * Transports through the host. Each rank keeps a stage of its gradients in host memory for the
 * whole run; it holds a copy of the arena, or the network's canonical order where layouts
 * differ. Canonical stages have places for running statistics, which stay zero.
 */

static bool make_stage(const struct sync_end *end, size_t count, float **out, struct error *err)
{
    void *stage;
    count++; /* of stages without parameters, too, there is one */
    if (end->backend->stage_create) {
        if (!end->backend->stage_create(end->device, count * sizeof(float), &stage, err))
            return false;
    } else {
        stage = malloc(count * sizeof(float));
        if (!stage)
            return error_memory(err, "gradients in host memory");
    }
    memset(stage, 0, count * sizeof(float));
    *out = stage;
    return true;
}

static void drop_stage(const struct sync_end *end, float **stage)
{
    if (*stage && end->backend->stage_destroy)
        end->backend->stage_destroy(end->device, *stage);
    else
        free(*stage);
    *stage = NULL;
}

bool sync_join(struct sync_group *group, int rank, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    if (group->transport == SYNC_COLLECTIVE)
        return group->collective->join(group->device_group, rank, err);
    if (group->transport == SYNC_SHARED)
        return true;
    end->has_stage = true;
    return make_stage(end, group->count, &end->grads, err) &&
           (rank != 0 || group->method != SYNC_CENTRAL ||
            make_stage(end, group->count, &group->params, err));
}

void sync_break_off(struct sync_group *group, int rank)
{
    if (group->device_group)
        group->collective->leave(group->device_group, rank, true);
}

void sync_leave(struct sync_group *group, int rank)
{
    struct sync_end *end = &group->ends[rank];
    if (group->device_group)
        group->collective->leave(group->device_group, rank, barrier_is_aborted(group->barrier));
    if (!end->has_stage)
        return;
    drop_stage(end, &end->grads);
    if (rank == 0)
        drop_stage(end, &group->params);
    end->has_stage = false;
}

/* The numbers of an arena that a stage holds: all, or the last. */
static void staged_range(const struct sync_group *group, const struct sync_end *end,
                         enum replica_arena arena, size_t *begin, size_t *count)
{
    replica_arena(end->replica, arena, count);
    *begin = arena == ARENA_STATISTICS ? 0 : *count - group->count;
}

static bool export(const struct sync_group *group, const struct sync_end *end,
                   enum replica_arena arena, float *stage, struct error *err)
{
    size_t begin, count;
    if (group->transport == SYNC_CANONICAL)
        return end->backend->values_export(end->device, end->replica, arena, stage, err);
    staged_range(group, end, arena, &begin, &count);
    return end->backend->arena_read(end->device, end->replica, arena, begin, count, stage, err);
}

static bool import(const struct sync_group *group, const struct sync_end *end,
                   enum replica_arena arena, const float *stage, struct error *err)
{
    size_t begin, count;
    if (group->transport == SYNC_CANONICAL)
        return end->backend->values_import(end->device, end->replica, arena, stage, err);
    staged_range(group, end, arena, &begin, &count);
    return end->backend->arena_write(end->device, end->replica, arena, begin, count, stage, err);
}

bool sync_stage_grads(const struct sync_group *group, int rank, struct error *err)
{
    const struct sync_end *end = &group->ends[rank];
    return !end->has_stage || export(group, end, ARENA_GRADS, end->grads, err);
}

bool sync_unstage_grads(const struct sync_group *group, int rank, struct error *err)
{
    const struct sync_end *end = &group->ends[rank];
    return !end->has_stage || import(group, end, ARENA_GRADS, end->grads, err);
}

bool sync_barrier(const struct sync_group *group, int rank, struct error *err)
{
    double waited = 0;
    return sync_wait(group, rank, &waited, err);
}

static bool fetch_params(const struct sync_group *group, int rank, struct error *err)
{
    const struct sync_end *end = &group->ends[rank];
    const bool first = rank == 0 && (!group->link || group->link->index == 0);
    if (group->transport == SYNC_COLLECTIVE)
        return group->collective->send_params(group->device_group, rank, err);
    if (group->transport == SYNC_SHARED) {
        float *params = group->ends[0].replica->params;
        const size_t bytes = end->replica->count * sizeof(float);
        if (group->link && !across_broadcast(group, rank, 0, params, bytes, err))
            return false;
        if (rank != 0)
            memcpy(end->replica->params, params, bytes);
        return true;
    }
    if (first && !export(group, end, ARENA_PARAMS, group->params, err))
        return false;
    return across_broadcast(group, rank, 0, group->params, group->count * sizeof(float), err) &&
           (first || import(group, end, ARENA_PARAMS, group->params, err));
}

bool sync_fetch_before(const struct sync_group *group, int rank, struct sync_times *times,
                       struct error *err)
{
    double begin = clock_seconds();
    bool ok = fetch_params(group, rank, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

/* Who has the running statistics that count. */
struct source {
    int host;  /* of the link's */
    bool here; /* it is this one */
    int rank;  /* of that host's */
};

/* From where the source has put them to where everybody finds them. */
static bool send_statistics(const struct sync_group *group, int rank, struct source source,
                            size_t bytes, struct error *err)
{
    return sync_barrier(group, rank, err) &&
           (!group->link ||
            across_broadcast(group, rank, source.host, group->statistics, bytes, err));
}

/*
 * Between layouts with all the weights, the only form in which statistics can be passed on. The
 * parameters are equal before up to what one kind of device rounds otherwise than another in the
 * update, and equal in every bit after.
 */
static bool fetch_weights(const struct sync_group *group, int rank, struct source source,
                          struct error *err)
{
    const struct sync_end *end = &group->ends[rank];
    const size_t bytes = end->replica->net->value_count * sizeof(float);
    struct weights weights = {.values = group->statistics};
    const bool is_source = source.here && rank == source.rank;
    if (is_source && !replica_export(end->backend, end->device, end->replica, &weights, err))
        return false;
    return send_statistics(group, rank, source, bytes, err) &&
           (is_source || replica_import(end->backend, end->device, end->replica, &weights, err));
}

/* The running statistics of a replica, and what passes them on. */
static bool export_statistics(const struct sync_group *group, const struct sync_end *end,
                              struct error *err)
{
    const size_t count = end->replica->statistics_count;
    if (group->transport != SYNC_SHARED)
        return export(group, end, ARENA_STATISTICS, group->statistics, err);
    if (count > 0)
        memcpy(group->statistics, end->replica->statistics, count * sizeof(float));
    return true;
}

static bool import_statistics(const struct sync_group *group, const struct sync_end *end,
                              struct error *err)
{
    const size_t count = end->replica->statistics_count;
    if (group->transport != SYNC_SHARED)
        return import(group, end, ARENA_STATISTICS, group->statistics, err);
    if (count > 0)
        memcpy(end->replica->statistics, group->statistics, count * sizeof(float));
    return true;
}

/* Also without any: others may have some, and all meet at one barrier. */
static bool fetch_statistics(const struct sync_group *group, int rank, struct source source,
                             struct error *err)
{
    const struct sync_end *end = &group->ends[rank];
    const size_t bytes = end->replica->statistics_count * sizeof(float);
    const bool is_source = source.here && rank == source.rank;
    if (group->transport == SYNC_CANONICAL)
        return fetch_weights(group, rank, source, err);
    if (group->transport == SYNC_SHARED && !group->link) {
        if (!is_source && bytes > 0)
            memcpy(end->replica->statistics, group->ends[source.rank].replica->statistics, bytes);
        return true;
    }
    return (!is_source || export_statistics(group, end, err)) &&
           send_statistics(group, rank, source, bytes, err) &&
           (is_source || import_statistics(group, end, err));
}

static struct source find_source(const struct sync_group *group, int index)
{
    if (!group->link)
        return (struct source){.here = true, .rank = index};
    const int host = host_map_find(group->map, index);
    return (struct source){
        .host = host, .here = host == group->link->index, .rank = index - group->map->begin[host]};
}

bool sync_even_out(const struct sync_group *group, int rank, int index, struct error *err)
{
    const struct source source = find_source(group, index);
    if (!sync_is_needed(group))
        return true;
    /* The parameters first: statistics may come with their source's. */
    return (!group->algorithm->one_updates || fetch_params(group, rank, err)) &&
           fetch_statistics(group, rank, source, err);
}

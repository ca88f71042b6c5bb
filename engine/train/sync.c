/* SPDX-License-Identifier: MIT */
#include "engine/train/sync.h"

#include <math.h>
#include <string.h>

const struct sync_algorithm *sync_algorithm_find(enum sync_method method)
{
    switch (method) {
    case SYNC_ALLREDUCE:
        return &sync_allreduce;
    case SYNC_REDUCE_BROADCAST:
        return &sync_reduce_broadcast;
    case SYNC_CENTRAL:
        break;
    }
    return &sync_central;
}

bool sync_check(const struct sync_group *group, const char *const *names, struct error *err)
{
    const struct replica *first = group->replicas[0];
    for (int i = 0; group->size > 1 && i < group->size; i++) {
        const struct replica *replica = group->replicas[i];
        if (!replica->host_accessible)
            return error_set(err, ERROR_FAILED,
                             "%s: its memory cannot be reduced by the host: train on it alone",
                             names[i]);
        if (replica->count != first->count || replica->state_count != first->state_count)
            return error_set(err, ERROR_FAILED,
                             "%s and %s lay out their parameters differently: choose devices of "
                             "one kind",
                             names[0], names[i]);
    }
    return true;
}

/* A block of sums that stays in the first-level cache while the members' gradients pass by. */
enum { BLOCK = 2048 };

void sync_sum_gradients(const struct sync_group *group, int member, size_t begin, size_t end)
{
    float sum[BLOCK];
    for (size_t at = begin; at < end; at += BLOCK) {
        size_t count = end - at < BLOCK ? end - at : BLOCK;
        memcpy(sum, group->replicas[0]->grads + at, count * sizeof *sum);
        for (int i = 1; i < group->size; i++) {
            const float *grads = group->replicas[i]->grads + at;
#pragma omp simd
            for (size_t j = 0; j < count; j++)
                sum[j] += grads[j];
        }
        memcpy(group->replicas[member]->grads + at, sum, count * sizeof *sum);
    }
}

void sync_fetch_statistics(const struct sync_group *group, int member, int source)
{
    struct replica *to = group->replicas[member];
    const struct replica *from = group->replicas[source];
    if (to != from && from->state_count)
        memcpy(to->state, from->state, from->state_count * sizeof *from->state);
}

void sync_fetch_params(const struct sync_group *group, int member, int source)
{
    struct replica *to = group->replicas[member];
    const struct replica *from = group->replicas[source];
    if (to != from)
        memcpy(to->params, from->params, from->count * sizeof *from->params);
}

double sync_step_bytes(const struct sync_group *group)
{
    return group->size > 1 ? (double)(group->replicas[0]->count * sizeof(float)) : 0;
}

double sync_algorithm_bandwidth(double reduced_bytes, double seconds)
{
    return reduced_bytes > 0 && seconds > 0 ? reduced_bytes / seconds : NAN;
}

double sync_bus_bandwidth(double reduced_bytes, double seconds, int devices)
{
    return sync_algorithm_bandwidth(reduced_bytes, seconds) * 2 * (devices - 1) / devices;
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/sync.h"

#include <math.h>
#include <string.h>

/*
 * Half of what is left each time: what is computed last is small, so little is left to wait for,
 * and buckets never get so small that their number costs more than they hide. The first one is
 * small, so that reducing begins early. 25 MB is where a reduction reaches its full speed
 * (PyTorch's figure).
 */
int sync_buckets(size_t count, size_t *ends)
{
    const size_t most = 25 * (1 << 20) / sizeof(float), least = (1 << 20) / sizeof(float);
    size_t end = 0;
    int buckets = 0;
    while (end < count) {
        size_t left = count - end, size = left / 2;
        if (buckets == 0 && count >= 4 * least)
            size = least;
        size = size > most ? most : size;
        size = (size + 15) / 16 * 16;
        if (size < least || left - size < least || buckets == SYNC_MAX_BUCKETS - 1)
            size = left <= most || buckets == SYNC_MAX_BUCKETS - 1 ? left : most;
        end += size;
        ends[buckets++] = end;
    }
    return buckets;
}

bool sync_before(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    struct sync_end *end = &group->ends[rank];
    end->buckets = 0;
    memset(end->squares, 0, (size_t)group->size * sizeof *end->squares);
    end->sum_squares = 0;
    return !sync_is_needed(group) || !group->algorithm->before ||
           group->algorithm->before(group, rank, times, err);
}

bool sync_after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    return !sync_is_needed(group) || group->algorithm->after(group, rank, times, err);
}

void sync_squares(const struct sync_group *group, int rank, double *own, double *sum)
{
    *own = 0;
    for (int i = 0; i < group->size; i++)
        *own += group->ends[i].squares[rank];
    *sum = group->ends[rank].sum_squares;
}

double sync_step_bytes(const struct sync_group *group)
{
    return sync_is_needed(group) ? (double)(group->ends[0].replica->count * sizeof(float)) : 0;
}

double sync_algorithm_bandwidth(double reduced_bytes, double seconds)
{
    return reduced_bytes > 0 && seconds > 0 ? reduced_bytes / seconds : NAN;
}

double sync_bus_bandwidth(double reduced_bytes, double seconds, int devices)
{
    return sync_algorithm_bandwidth(reduced_bytes, seconds) * 2 * (devices - 1) / devices;
}

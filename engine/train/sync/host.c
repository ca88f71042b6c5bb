/* SPDX-License-Identifier: MIT */
#include "engine/train/sync/host.h"

#include <string.h>

#include "base/clock.h"
#include "engine/train/sync/sums.h"
#include "engine/train/sync/transport.h"

/* grads[begin..end) of the first `ranks` become the sums over all, in the order of the ranks, and
 * `by`, who sums, adds up their squares. */
static void sum_gradients(const struct sync_group *group, int by, int ranks, size_t begin,
                          size_t end)
{
    struct sync_end *adder = &group->ends[by];
    float sum[SUM_BLOCK];
    for (size_t at = begin; at < end; at += SUM_BLOCK) {
        size_t count = end - at < SUM_BLOCK ? end - at : SUM_BLOCK;
        memcpy(sum, group->ends[0].grads + at, count * sizeof *sum);
        adder->squares[0] += (double)sum_of_squares(sum, count);
        for (int i = 1; i < group->size; i++)
            adder->squares[i] += (double)add_gradients(sum, group->ends[i].grads + at, count);
        adder->sum_squares += (double)sum_of_squares(sum, count);
        for (int i = 0; i < ranks; i++)
            memcpy(group->ends[i].grads + at, sum, count * sizeof *sum);
    }
}

/* No barrier after the second: the next backward pass starts after every rank has finished its
 * step. With SYNC_CENTRAL rank 0 alone updates, after all have come to the first. */
static bool after(struct sync_group *group, int rank, struct sync_times *times, struct error *err)
{
    const enum sync_method method = group->method;
    double inner_wait_s = 0, begin = clock_seconds();
    if (!sync_stage_grads(group, rank, err))
        return false;
    times->moving_s += clock_seconds() - begin;
    if (!sync_wait(group, rank, &times->wait_s, err))
        return false;
    begin = clock_seconds();
    if (method == SYNC_ALLREDUCE)
        sum_gradients(group, rank, group->size, slice_begin(group->count, rank, group->size),
                      slice_begin(group->count, rank + 1, group->size));
    else if (rank == 0)
        sum_gradients(group, 0, 1, 0, group->count);
    if (method != SYNC_CENTRAL && !sync_wait(group, rank, &inner_wait_s, err))
        return false;
    if (method == SYNC_REDUCE_BROADCAST && rank != 0)
        memcpy(group->ends[rank].grads, group->ends[0].grads, group->count * sizeof(float));
    bool ok = (method == SYNC_CENTRAL && rank != 0) || sync_unstage_grads(group, rank, err);
    times->moving_s += clock_seconds() - begin;
    return ok;
}

const struct sync_algorithm *sync_on_host(enum sync_method method)
{
    static const struct sync_algorithm algorithms[] = {
        /* Reduce-scatter and all-gather (Rabenseifner's all-reduce) in one, as memory is shared:
         * each block of sums is put in the place of all gradients while it is in the cache. */
        [SYNC_ALLREDUCE] = {.description = "each device sums a slice, in device order, for all",
                            .after = after},
        [SYNC_REDUCE_BROADCAST] = {.description =
                                       "device 0 sums the gradients, the others copy the result",
                                   .after = after},
        /* The parameters live on device 0, as in PyTorch's DataParallel. */
        [SYNC_CENTRAL] = {.description =
                              "parameters sent out from device 0, gradients summed there",
                          .before = sync_fetch_before,
                          .after = after,
                          .one_updates = true},
    };
    return &algorithms[method];
}

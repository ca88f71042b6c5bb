/* SPDX-License-Identifier: MIT */
#include "engine/train/step/halves.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/train/step/rank.h"
#include "engine/train/sync/sums.h"

/* In host memory. */
struct halves {
    float *statistics; /* as they were before */
    float *first, *second;
};

static bool read_arena(const struct rank *rank, enum replica_arena arena, float *out,
                       struct error *err)
{
    size_t count;
    const float *own = replica_arena(rank->replica, arena, &count);
    if (!rank->replica->host_accessible)
        return rank->backend->arena_read(rank->device, rank->replica, arena, 0, count, out, err);
    memcpy(out, own, count * sizeof *out);
    return true;
}

/* Passes update the running statistics, which are the whole step's to update. */
static bool restore_statistics(struct rank *rank, const float *values, struct error *err)
{
    struct replica *replica = rank->replica;
    const size_t count = replica->statistics_count;
    if (!replica->host_accessible)
        return rank->backend->arena_write(rank->device, replica, ARENA_STATISTICS, 0, count, values,
                                          err);
    memcpy(replica->statistics, values, count * sizeof *values);
    return true;
}

static bool run_half(struct rank *rank, int number, float *grads, struct error *err)
{
    const int rows = rank->half.rows;
    struct batch batch = rank_batch(rank, (long)number * rows, rows);
    struct batch_result ignored;
    batch.global_rows = 2L * rows;
    batch.unprofiled = true;
    return rank->backend->plan_run(rank->device, rank->half.plan, &batch, &ignored, err) &&
           read_arena(rank, ARENA_GRADS, grads, err);
}

static void take_squares(struct rank *rank, const struct halves *halves)
{
    struct noise_part *noise = &rank->noise;
    const size_t count = rank->replica->count;
    for (int i = 0; i < 2; i++)
        noise->shards[i].rows = rank->half.rows;
    for (size_t at = 0; at < count; at += SUM_BLOCK) {
        const size_t size = count - at < SUM_BLOCK ? count - at : SUM_BLOCK;
        float *sum = halves->first + at;
        noise->shards[0].squares += (double)sum_of_squares(sum, size);
        noise->shards[1].squares += (double)add_gradients(sum, halves->second + at, size);
        noise->sum_squares += (double)sum_of_squares(sum, size);
    }
}

bool rank_measure_halves(struct rank *rank, struct error *err)
{
    const size_t count = rank->replica->count;
    const double begin = clock_seconds();
    float *memory = malloc((2 * count + rank->replica->statistics_count) * sizeof *memory);
    if (!memory)
        return error_memory(err, "gradients of half a mini-batch");
    const struct halves halves = {
        .first = memory, .second = memory + count, .statistics = memory + 2 * count};
    bool ok = read_arena(rank, ARENA_STATISTICS, halves.statistics, err) &&
              run_half(rank, 0, halves.first, err) && run_half(rank, 1, halves.second, err) &&
              restore_statistics(rank, halves.statistics, err);
    if (ok)
        take_squares(rank, &halves);
    free(memory);
    rank->times.measure_s = clock_seconds() - begin;
    return ok;
}

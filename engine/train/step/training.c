/* SPDX-License-Identifier: MIT */
#include "engine/train/step/training.h"

#include <math.h>

#include "base/clock.h"
#include "engine/train/step/halves.h"
#include "engine/train/step/rank.h"
#include "engine/train/sync/collective.h"

/* What this device will be given next, if the epoch is not over. */
static void foresee(const struct rank *rank, struct batch *batch)
{
    const struct ranks *ranks = rank->ranks;
    long begin = ranks->step.begin + ranks->step.rows, before, rows;
    if (begin >= ranks->work->train_rows)
        return;
    enum pass_size size =
        ranks->step.size == PASS_FULL && ranks->work->train_rows - begin >= ranks->step.rows
            ? PASS_FULL
            : PASS_SHORT;
    ranks_shard(ranks, rank->index, size, &before, &rows);
    batch->next_index = ranks->work->order + begin + before;
    batch->next_rows = (int)rows;
}

/* Forward and backward pass over this device's shard. */
static bool compute(struct rank *rank, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    const struct step *step = &ranks->step;
    struct rank_pass *pass = &rank->train[step->size];
    struct step_times *times = &rank->times;
    long before, rows;
    ranks_shard(ranks, rank->index, step->size, &before, &rows);
    struct batch batch = rank_batch(rank, before, pass->rows);
    foresee(rank, &batch);
    rank_show_busy(rank);
    double begin = ranks->clock();
    bool ok = ranks->queues
                  ? rank->backend->plan_queue(rank->device, pass->plan, &batch, err)
                  : rank->backend->plan_run(rank->device, pass->plan, &batch, &rank->result, err);
    times->pass_s = ranks->clock() - begin - times->sync_bn_s - times->wait_s;
    times->compute_s += times->pass_s;
    pass->warm = ok;
    rank_progress(rank);
    return ok;
}

static bool update(struct rank *rank, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    struct replica *replica = rank->replica;
    if (rank->group->algorithm->one_updates && rank->index != 0)
        return true;
    double begin = clock_seconds();
    bool ok =
        rank->backend->update(rank->device, replica, 0, replica->count, &ranks->step.update, err);
    rank->times.update_s = clock_seconds() - begin;
    rank->times.compute_s += rank->times.update_s;
    return ok;
}

/* Mark the end of what was queued for the step until here. */
static bool mark(struct rank *rank, enum pass_moment moment, struct error *err)
{
    return !rank->ranks->queues || rank->backend->plan_mark(rank->device, moment, err);
}

/* The device's own clock, in place of this thread's, which only queued the step. */
static void take_times(struct step_times *times, const double *seconds)
{
    /* A pass may have waited for others in the middle. */
    times->pass_s = fmax(0, seconds[PASS_DONE] - times->sync_bn_s - times->wait_s);
    times->update_s = seconds[PASS_UPDATED];
    times->reduce_s = seconds[PASS_REDUCED];
    times->compute_s = times->pass_s + times->update_s;
}

static bool step(struct rank *rank, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    struct sync_times times = {0, 0};
    rank->result = (struct batch_result){0};
    rank->times = (struct step_times){.begin = clock_seconds()};
    rank->noise = (struct noise_part){.sum_squares = 0};
    /* A first pass loads code, for which a device may have to be idle: nothing overlaps with it. */
    struct sync_end *end = &rank->group->ends[rank->group_number];
    end->overlaps = rank->train[ranks->step.size].warm;
    end->queues = ranks->queues;
    if ((ranks->step.halves && !rank_measure_halves(rank, err)) ||
        !sync_before(rank->group, rank->group_number, &times, err) || !compute(rank, err))
        return false;
    rank_show(rank, ACTIVITY_WAIT);
    if (!sync_after(rank->group, rank->group_number, &times, err))
        return false;
    if (!ranks->queues)
        rank_add_times(rank, &times);
    return (ranks->count == 1 || mark(rank, PASS_REDUCED, err)) && update(rank, err) &&
           mark(rank, PASS_UPDATED, err);
}

/* The oldest step that is queued; where steps are not, it has been done in its own task. */
static bool take(struct rank *rank, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    struct step_part *part = &rank->parts[ranks->oldest % PASSES_QUEUED];
    struct pass_outcome outcome;
    if (ranks->queues) {
        if (!rank->backend->plan_take(rank->device, &outcome, err))
            return false;
        take_times(&part->times, outcome.seconds);
        part->times.summed_s = sync_summed_s(rank->group, rank->group_number);
        part->result = outcome.result;
        if (ranks->count > 1) {
            part->noise.shards[0] =
                (struct noise_shard){part->rows, outcome.squares[PASS_OWN_SQUARES]};
            part->noise.sum_squares = outcome.squares[PASS_SUM_SQUARES];
        }
    }
    part->times.end = clock_seconds();
    return true;
}

/* A device that fails says so in the next call, also in one that queues a later step: the first
 * step that was not done is named. */
static bool name_step(const struct ranks *ranks, struct error *err)
{
    return ranks->queues ? error_prefix(err, "step %ld", ranks->oldest) : false;
}

bool rank_take(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    return take(&ranks->rank[index], err) || name_step(ranks, err);
}

bool rank_step(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    bool ok = step(rank, err);
    rank->parts[ranks->step.number % PASSES_QUEUED] = (struct step_part){
        .rows = rank->train[ranks->step.size].rows,
        .result = rank->result,
        .times = rank->times,
        .noise = rank->noise,
    };
    ok = ok && (!ranks->takes || take(rank, err));
    /* The next step follows at once: what a viewer sees in between is a device that trains. */
    if (ok)
        rank_show_busy(rank);
    return ok || name_step(ranks, err);
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/tensor/tensor.h"

#include <stdlib.h>

#include "base/clock.h"
#include "engine/net/slice.h"
#include "engine/train/split/division.h"
#include "engine/train/step/own_update.h"
#include "engine/train/step/plans.h"
#include "engine/train/step/rank.h"
#include "engine/train/sync/barrier.h"
#include "engine/train/sync/transport.h"
#include "engine/train/tensor/exchange.h"

struct tensor {
    int count;
    struct net_slice slice[SPEC_MAX_DEVICES];
    struct exchange *exchange;
};

bool tensor_create(struct ranks *ranks, struct error *err)
{
    const enum net_division division = strategy_division(ranks->spec->strategy);
    struct tensor *tensor = calloc(1, sizeof *tensor);
    if (!tensor)
        return error_memory(err, "slices of the network");
    ranks->tensor = tensor;
    if (!exchange_create(ranks, &tensor->exchange, err))
        return false;
    for (; tensor->count < ranks->count; tensor->count++) {
        struct rank *rank = &ranks->rank[tensor->count];
        struct net_slice *slice = &tensor->slice[tensor->count];
        if (!net_slice_make(ranks->work->net, division, tensor->count, ranks->count, slice, err))
            return false;
        rank->slice = slice;
        rank->exchange = exchange_of(tensor->exchange, rank);
    }
    return true;
}

void tensor_destroy(struct tensor *tensor)
{
    if (!tensor)
        return;
    for (int i = 0; i < tensor->count; i++)
        net_slice_free(&tensor->slice[i]);
    exchange_destroy(tensor->exchange);
    free(tensor);
}

/* Plans for the rows of all passes. What is gathered is everybody's in equal parts. */
static bool plan(struct rank *rank, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    double waited = 0;
    if (!plans_get(rank, err) || !barrier_wait(ranks->barrier, rank->index, &waited, err))
        return false;
    plans_note_memory(rank, exchange_bytes(ranks->tensor->exchange) / (uint64_t)ranks->count);
    return true;
}

/* It reads what the others have made where they have it. */
static bool reach_others(const struct rank *rank, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    bool ok = true;
    for (int i = 0; ok && rank->backend->reach && i < ranks->count; i++)
        ok = i == rank->index || rank->backend->reach(rank->device, ranks->rank[i].options.id, err);
    return ok;
}

static bool slice_prepare(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    rank_show(rank, ACTIVITY_PREPARE);
    bool ok = rank_open(rank, err) && reach_others(rank, err) && rank_replicate(rank, NULL, err) &&
              plan(rank, err) && rank_load(rank, err);
    if (ok)
        rank_show(rank, ACTIVITY_IDLE);
    return ok;
}

static bool slice_change_shares(void *context, int index, struct error *err)
{
    return plan(&((struct ranks *)context)->rank[index], err);
}

static bool run_pass(struct rank *rank, struct rank_pass *pass, const struct batch *batch,
                     struct batch_result *result, struct error *err)
{
    exchange_begin_pass(rank->ranks->tensor->exchange, rank, !pass->warm);
    pass->warm = true;
    return rank->backend->plan_run(rank->device, pass->plan, batch, result, err);
}

/* Forward and backward pass; every rank has the loss of all rows, and the first counts it. */
static bool compute(struct rank *rank, struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    struct rank_pass *pass = &rank->train[ranks->step.size];
    struct batch_result result;
    const struct batch global = rank_batch(rank, 0, ranks->step.rows);
    struct batch batch = rank_batch(rank, pass->before, pass->rows);
    const double begin = ranks->clock();
    batch.global = pass->global_rows > 0 ? &global : NULL;
    bool ok = run_pass(rank, pass, &batch, &result, err);
    rank->times.pass_s = ranks->clock() - begin - rank->times.wait_s;
    if (rank->index == 0)
        rank->result = result;
    rank_progress(rank);
    return ok;
}

static bool step(struct rank *rank, struct error *err)
{
    rank->result = (struct batch_result){0};
    rank->times = (struct step_times){.begin = clock_seconds()};
    rank_show(rank, ACTIVITY_TRAIN);
    bool ok = compute(rank, err) && rank_sum_gradients(rank, err) && own_update(rank, err);
    rank->times.compute_s = rank->times.pass_s + rank->times.update_s;
    rank->times.end = clock_seconds();
    return ok;
}

static bool slice_step(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    bool ok = step(rank, err);
    rank->parts[ranks->step.number % PASSES_QUEUED] = (struct step_part){
        .rows = rank->train[ranks->step.size].rows, .result = rank->result, .times = rank->times};
    return ok;
}

/* Whether there is another batch: all ranks must agree, though they may be told at other moments
 * that the evaluation is cut short. No rank begins a batch before all have ended the last. */
static bool agree_on_batch(struct rank *rank, bool more, bool *another, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    double ends = !more || atomic_load(&ranks->cut) ? 1 : 0, waited = 0;
    bool ok = barrier_sum(ranks->barrier, rank->index, &ends, 1, &waited, err);
    *another = ends == 0;
    return ok;
}

static void take_result(struct rank *rank, long begin, int rows, const struct batch_result *result)
{
    struct ranks *ranks = rank->ranks;
    const struct row_set *set = ranks->work->evaluated;
    rank_progress(rank);
    if (rank->index > 0)
        return;
    rank->result.loss_sum += result->loss_sum;
    rank->result.correct += result->correct;
    if (result->predicted)
        confusion_count(&rank->confusion, set->data->labels, set->order + begin, result->predicted,
                        rows);
    atomic_fetch_add(&ranks->evaluated, rows);
}

/* The rows of the evaluated set from `begin` on. */
static struct batch batch_from(const struct ranks *ranks, long begin, int rows, int global_rows)
{
    const struct row_set *set = ranks->work->evaluated;
    return (struct batch){.data = set->data,
                          .index = set->order + begin,
                          .rows = rows,
                          .global_rows = global_rows,
                          .seed = ranks->spec->seed,
                          .epoch = ranks->step.epoch};
}

/* One batch; *rows of all ranks. */
static bool evaluate_batch(struct rank *rank, long begin, int *rows, struct batch_result *result,
                           struct error *err)
{
    const struct ranks *ranks = rank->ranks;
    const long left = ranks->work->evaluated->rows - begin;
    struct rank_pass *pass = &rank->eval[PASS_FULL];
    *rows = pass->global_rows > 0 ? pass->global_rows : pass->rows;
    if (left < *rows) {
        pass = &rank->eval[PASS_SHORT];
        *rows = (int)left;
    }
    const struct batch global = batch_from(ranks, begin, *rows, *rows);
    struct batch batch = batch_from(ranks, begin + pass->before, pass->rows, *rows);
    batch.global = pass->global_rows > 0 ? &global : NULL;
    return run_pass(rank, pass, &batch, result, err);
}

static bool evaluate(struct rank *rank, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    const struct row_set *set = ranks->work->evaluated;
    long begin = 0;
    bool ok, another = true;
    rank->result = (struct batch_result){0};
    if (rank->confusion.counts)
        confusion_clear(&rank->confusion);
    if (!sync_even_out(rank->group, rank->group_number, ranks->statistics_from, err))
        return false;
    while ((ok = agree_on_batch(rank, begin < set->rows, &another, err)) && another) {
        struct batch_result result = {0};
        int rows;
        if (!evaluate_batch(rank, begin, &rows, &result, err))
            return false;
        take_result(rank, begin, rows, &result);
        begin += rows;
    }
    return ok;
}

static bool slice_evaluate(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    rank_show(rank, ACTIVITY_EVAL);
    bool ok = evaluate(rank, err);
    if (ok)
        rank_show(rank, ACTIVITY_WAIT);
    return ok;
}

/* What a rank has made every other one reads; of gradients, too. Those that are summed up are
 * counted as strategy data counts them. */
static double step_bytes(const struct ranks *ranks)
{
    const struct rank_pass *pass = &ranks->rank[0].train[PASS_FULL];
    const int rows = pass->global_rows > 0 ? pass->global_rows : pass->rows;
    const size_t summed = sync_is_needed(&ranks->group) ? ranks->group.count : 0;
    return (ranks->count - 1) * (double)rows * ranks->tensor->slice[0].gather_numbers *
               (double)number_type_size(ranks->rank[0].facts.type) +
           (double)summed * sizeof(float);
}

static const char *how(const struct ranks *ranks)
{
    return ranks->group.description;
}

const struct strategy_tasks strategy_tensor = {.prepare = slice_prepare,
                                               .change_shares = slice_change_shares,
                                               .step = slice_step,
                                               .evaluate = slice_evaluate,
                                               .step_bytes = step_bytes,
                                               .how = how};

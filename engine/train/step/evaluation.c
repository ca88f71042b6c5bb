/* SPDX-License-Identifier: MIT */
#include "engine/train/step/evaluation.h"

#include "engine/train/step/rank.h"
#include "engine/train/sync/transport.h"

/* The rows of a rank, of what is evaluated: which come next. */
struct rows {
    long given, taken; /* to the device, and from it */
    long end;
    int queued; /* passes that were given and not taken */
};

/* The pass over the rows from `begin` on. */
static struct rank_pass *pass_from(struct rank *rank, const struct rows *rows, long begin)
{
    bool full = rows->end - begin >= rank->eval[PASS_FULL].rows;
    return &rank->eval[full ? PASS_FULL : PASS_SHORT];
}

static void take_result(struct rank *rank, struct rows *rows, const struct batch_result *result)
{
    const struct row_set *set = rank->ranks->work->evaluated;
    const long count = pass_from(rank, rows, rows->taken)->rows;
    rank->result.loss_sum += result->loss_sum;
    rank->result.correct += result->correct;
    if (result->predicted)
        confusion_count(&rank->confusion, set->data->labels, set->order + rows->taken,
                        result->predicted, count);
    rows->taken += count;
    atomic_fetch_add(&rank->ranks->evaluated, count);
    rank_progress(rank);
}

/* Take passes until no more than `left` are queued. */
static bool take_queued(struct rank *rank, struct rows *rows, int left, struct error *err)
{
    struct pass_outcome outcome;
    for (; rows->queued > left; rows->queued--) {
        if (!rank->backend->plan_take(rank->device, &outcome, err))
            return false;
        take_result(rank, rows, &outcome.result);
    }
    return true;
}

/* Give the device the next rows; of one that computes asynchronously take those that are due. */
static bool evaluate_rows(struct rank *rank, struct rows *rows, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    struct rank_pass *pass = pass_from(rank, rows, rows->given);
    const struct backend *backend = rank->backend;
    struct batch_result result = {0};
    const struct batch batch = {
        .data = ranks->work->evaluated->data,
        .index = ranks->work->evaluated->order + rows->given,
        .rows = pass->rows,
        .global_rows = pass->rows,
        .seed = ranks->spec->seed,
        .epoch = ranks->step.epoch,
    };
    rows->given += pass->rows;
    if (!backend->plan_queue) {
        if (!backend->plan_run(rank->device, pass->plan, &batch, &result, err))
            return false;
        take_result(rank, rows, &result);
        return true;
    }
    if (!backend->plan_queue(rank->device, pass->plan, &batch, err))
        return false;
    rows->queued++;
    const int most = pass->warm ? PASSES_AHEAD : 0;
    pass->warm = true;
    return take_queued(rank, rows, most, err);
}

static bool evaluate(struct rank *rank, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    struct rows rows = {.given = rank->eval_begin,
                        .taken = rank->eval_begin,
                        .end = rank->eval_begin + rank->eval_rows};
    rank->result = (struct batch_result){0};
    if (rank->confusion.counts)
        confusion_clear(&rank->confusion);
    if (!sync_even_out(rank->group, rank->group_number, ranks->statistics_from, err))
        return false;
    while (rows.given < rows.end && !atomic_load(&ranks->cut) &&
           !barrier_is_aborted(ranks->barrier))
        if (!evaluate_rows(rank, &rows, err))
            return false;
    return take_queued(rank, &rows, 0, err);
}

bool rank_evaluate(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    rank_show(rank, rank->eval_rows > 0 ? ACTIVITY_EVAL : ACTIVITY_IDLE);
    bool ok = evaluate(rank, err);
    if (ok)
        rank_show(rank, ACTIVITY_WAIT);
    return ok;
}

/* SPDX-License-Identifier: MIT */
#include "engine/train/step/evaluation.h"

#include "engine/train/step/rank.h"
#include "engine/train/sync/transport.h"

static bool add_result(struct rank *rank, const struct batch_result *result)
{
    rank->result.loss_sum += result->loss_sum;
    rank->result.correct += result->correct;
    rank_progress(rank);
    return true;
}

/* Take passes until no more than `left` are queued. */
static bool take_evaluated(struct rank *rank, int *queued, int left, struct error *err)
{
    struct pass_outcome outcome;
    for (; *queued > left; (*queued)--)
        if (!rank->backend->plan_take(rank->device, &outcome, err) ||
            !add_result(rank, &outcome.result))
            return false;
    return true;
}

/* One pass; *queued counts those not yet taken, of devices that compute asynchronously. */
static bool evaluate_rows(struct rank *rank, struct rank_pass *pass, long begin, int *queued,
                          struct error *err)
{
    struct ranks *ranks = rank->ranks;
    const struct backend *backend = rank->backend;
    struct batch_result result = {0, 0};
    const struct batch batch = {
        .data = &ranks->work->data.test,
        .index = ranks->work->test_order + begin,
        .rows = pass->rows,
        .global_rows = pass->rows,
        .seed = ranks->spec->seed,
        .epoch = ranks->step.epoch,
    };
    if (!backend->plan_queue)
        return backend->plan_run(rank->device, pass->plan, &batch, &result, err) &&
               add_result(rank, &result);
    if (!backend->plan_queue(rank->device, pass->plan, &batch, err))
        return false;
    ++*queued;
    const int most = pass->warm ? PASSES_AHEAD : 0;
    pass->warm = true;
    return take_evaluated(rank, queued, most, err);
}

static bool evaluate(struct rank *rank, struct error *err)
{
    struct ranks *ranks = rank->ranks;
    long begin = rank->eval_begin, end = begin + rank->eval_rows;
    int queued = 0;
    rank->result = (struct batch_result){0, 0};
    if (!sync_even_out(&ranks->group, rank->index, ranks->statistics_from, err))
        return false;
    while (begin < end && !atomic_load(&ranks->cut) && !barrier_is_aborted(ranks->barrier)) {
        bool full = end - begin >= rank->eval[PASS_FULL].rows;
        struct rank_pass *pass = &rank->eval[full ? PASS_FULL : PASS_SHORT];
        if (!evaluate_rows(rank, pass, begin, &queued, err))
            return false;
        begin += pass->rows;
    }
    return take_evaluated(rank, &queued, 0, err);
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

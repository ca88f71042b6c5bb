/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/evaluate.h"

#include "engine/train/step/rank.h"
#include "engine/train/sync/transport.h"

/* An evaluation, as one stage does it: batch by batch, in order. */
struct evaluation {
    struct rank *rank;
    struct handover *handover;
    struct handover_counts *counts;
    const struct row_set *set;
    long begin, end; /* the next row; after the last one */
    long number;     /* of its batch */
    int unanswered;  /* batches that the next stage may still be reading */
};

static bool is_last(const struct evaluation *e)
{
    return e->rank->stage_index == e->rank->ranks->pipeline->stages - 1;
}

/* The first stage says when it is over, also before the last row. */
static bool take_batch(struct evaluation *e, bool *ended, struct error *err)
{
    struct ranks *ranks = e->rank->ranks;
    *ended = e->begin == e->end;
    if (*ended)
        return true;
    if (e->begin > e->end)
        return error_set(err, ERROR_FAILED, "evaluated up to row %ld of %ld", e->begin, e->end);
    if (e->rank->stage_index > 0)
        return handover_take(e->handover, e->rank->stage_index, e->counts, ended, err);
    *ended = atomic_load(&ranks->cut) || barrier_is_aborted(ranks->barrier);
    if (*ended)
        handover_end(e->handover);
    return true;
}

/* Wait until no more than `left` batches have not been read. */
static bool take_answers(struct evaluation *e, int left, struct error *err)
{
    for (; e->unanswered > left; e->unanswered--)
        if (!handover_take_answer(e->handover, e->rank->stage_index, e->counts, err))
            return false;
    return true;
}

static void take_result(struct evaluation *e, const struct batch_result *result, int rows)
{
    struct rank *rank = e->rank;
    rank->result.loss_sum += result->loss_sum;
    rank->result.correct += result->correct;
    if (!is_last(e))
        return;
    if (result->predicted)
        confusion_count(&rank->confusion, e->set->data->labels, e->set->order + e->begin,
                        result->predicted, rows);
    atomic_fetch_add(&rank->ranks->evaluated, rows);
}

static bool run_batch(struct evaluation *e, struct error *err)
{
    struct rank *rank = e->rank;
    const bool full = e->end - e->begin >= rank->eval[PASS_FULL].rows;
    const struct rank_pass *pass = &rank->eval[full ? PASS_FULL : PASS_SHORT];
    const struct micro_batch micro = {
        .first = true,
        .last = true,
        .ends = {[STAGE_INPUT] =
                     rank->stage_index > 0
                         ? handover_values(e->handover, rank->stage_index - 1, e->number)
                         : NULL,
                 [STAGE_OUTPUT] = handover_values(e->handover, rank->stage_index, e->number)}};
    const struct batch batch = {.data = e->set->data,
                                .index = e->set->order + e->begin,
                                .rows = pass->rows,
                                .global_rows = pass->rows,
                                .seed = rank->ranks->spec->seed,
                                .epoch = rank->ranks->step.epoch};
    struct batch_result result;
    if (!rank->backend->plan_forward(rank->device, pass->plan, &batch, &micro, &result, err))
        return false;
    handover_give(e->handover, rank->stage_index);
    handover_answer(e->handover, rank->stage_index);
    take_result(e, &result, pass->rows);
    e->unanswered += !is_last(e);
    e->begin += pass->rows;
    e->number++;
    rank_progress(rank);
    return true;
}

static bool evaluate(struct evaluation *e, struct error *err)
{
    bool ended;
    e->rank->result = (struct batch_result){0};
    if (e->rank->confusion.counts)
        confusion_clear(&e->rank->confusion);
    for (;;) {
        rank_show(e->rank, ACTIVITY_WAIT);
        if (!take_batch(e, &ended, err))
            return false;
        if (ended) /* of a step that follows nobody may find an answer that is of this */
            return take_answers(e, 0, err);
        if (!take_answers(e, EVALUATION_SLOTS - 1, err))
            return false;
        rank_show(e->rank, ACTIVITY_EVAL);
        if (!run_batch(e, err))
            return false;
    }
}

bool stage_evaluate(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct pipeline *pipeline = ranks->pipeline;
    struct rank *rank = &ranks->rank[index];
    struct evaluation e = {.rank = rank,
                           .handover = pipeline_handover(rank),
                           .counts = &pipeline->stage[index].counts,
                           .set = ranks->work->evaluated,
                           .begin = rank->eval_begin,
                           .end = rank->eval_begin + rank->eval_rows};
    return (pipeline->count == 1 || sync_even_out(rank->group, rank->group_number, 0, err)) &&
           evaluate(&e, err);
}

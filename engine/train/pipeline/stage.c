/* SPDX-License-Identifier: MIT */
#include "engine/train/pipeline/stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/train/pipeline/evaluate.h"
#include "engine/train/step/own_update.h"
#include "engine/train/step/plans.h"
#include "engine/train/step/rank.h"

static int most_rows(const struct rank *rank)
{
    int most = rank->eval[PASS_FULL].rows;
    for (int size = 0; size < PASS_SIZES; size++)
        for (int i = 0; i < 2; i++)
            most = rank->micro[size][i].rows > most ? rank->micro[size][i].rows : most;
    return most;
}

/* Memory for what the stage gives to the next one. */
static bool open_handover(struct rank *rank, struct error *err)
{
    const struct backend *backend = rank->backend;
    const size_t bytes = backend->stage_row(rank->replica, true) * (size_t)most_rows(rank);
    const int slots = rank->slots > EVALUATION_SLOTS ? rank->slots : EVALUATION_SLOTS;
    void *memory = NULL;
    if (bytes == 0)
        return true;
    return (!backend->stage_memory ||
            backend->stage_memory(rank->device, handover_size(slots, bytes), &memory, err)) &&
           handover_open(pipeline_handover(rank), rank->stage_index, slots, bytes, memory, err);
}

/* It reads values where the stage before it has them, and writes their gradients there. */
static bool reach_stage_before(const struct rank *rank, struct error *err)
{
    return rank->stage_index == 0 || !rank->backend->reach ||
           rank->backend->reach(rank->device, (rank - 1)->options.id, err);
}

/* Plans for the rows of all passes, and room for what they give. */
static bool plan(struct rank *rank, struct error *err)
{
    if (!plans_get_stage(rank, err) || !open_handover(rank, err))
        return false;
    plans_note_memory(rank, handover_bytes(pipeline_handover(rank), rank->stage_index));
    return true;
}

static bool prepare(struct rank *rank, struct error *err)
{
    return rank_open(rank, err) && reach_stage_before(rank, err) &&
           rank_replicate(rank, &rank->stage, err) && plan(rank, err) && rank_load(rank, err);
}

bool stage_change_shares(void *context, int index, struct error *err)
{
    return plan(&((struct ranks *)context)->rank[index], err);
}

bool stage_prepare(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct ranks *)context)->rank[index];
    rank_show(rank, ACTIVITY_PREPARE);
    bool ok = prepare(rank, err);
    if (ok)
        rank_show(rank, ACTIVITY_IDLE);
    return ok;
}

/* A step, as one stage does it. */
struct passes {
    struct rank *rank;
    struct handover *handover;
    struct handover_counts *counts;
    const struct micro_split *split;
    const struct pipeline_task *tasks;
    struct rank_pass *pass;      /* for the two sizes of micro-batches */
    struct pipeline_span *spans; /* of a full step; NULL: of another */
    double *seconds;             /* of all passes */
};

static struct passes passes_of(struct rank *rank)
{
    struct pipeline *pipeline = rank->ranks->pipeline;
    struct pipeline_stage *stage = &pipeline->stage[rank->index];
    const enum pass_size size = rank->ranks->step.size;
    return (struct passes){.rank = rank,
                           .handover = pipeline_handover(rank),
                           .counts = &stage->counts,
                           .split = &pipeline->split[rank->pipeline_index][size],
                           .tasks = stage->tasks[size],
                           .pass = rank->micro[size],
                           .spans = size == PASS_FULL ? stage->spans : NULL,
                           .seconds = &stage->step_s};
}

/* Until what a task reads is there. */
static bool wait_for_neighbour(const struct passes *p, bool backward, struct error *err)
{
    struct rank *rank = p->rank;
    const double begin = clock_seconds();
    rank_show(rank, ACTIVITY_WAIT);
    bool ok = backward ? handover_take_answer(p->handover, rank->stage_index, p->counts, err)
                       : handover_take(p->handover, rank->stage_index, p->counts, NULL, err);
    rank_show(rank, ACTIVITY_TRAIN);
    const double waited = clock_seconds() - begin;
    rank->times.wait_s += waited;
    rank->times.barrier_s += waited;
    return ok;
}

/* Rows of the micro-batches before one in its window. */
static long rows_before_in_window(const struct micro_split *split, int index)
{
    const int window = pipeline_window(split->count);
    return micro_begin(split, index) - micro_begin(split, index / window * window);
}

static struct micro_batch micro_of(const struct passes *p, int index)
{
    const int stage = p->rank->stage_index;
    struct micro_batch micro = {.slot = index % p->rank->slots,
                                .first = index == 0,
                                .last = index == p->split->count - 1,
                                .rows_before = micro_begin(p->split, index),
                                .deferred_before = rows_before_in_window(p->split, index)};
    micro.ends[STAGE_OUTPUT] = handover_values(p->handover, stage, index);
    micro.ends[STAGE_OUTPUT_GRADIENT] = handover_gradients(p->handover, stage, index);
    if (stage > 0) {
        micro.ends[STAGE_INPUT] = handover_values(p->handover, stage - 1, index);
        micro.ends[STAGE_INPUT_GRADIENT] = handover_gradients(p->handover, stage - 1, index);
    }
    return micro;
}

static struct plan *plan_of(const struct passes *p, int index)
{
    return p->pass[index >= p->split->first].plan;
}

static bool run_forward(const struct passes *p, struct plan *plan, const struct batch *batch,
                        const struct micro_batch *micro, struct error *err)
{
    struct rank *rank = p->rank;
    struct batch_result result;
    if (!rank->backend->plan_forward(rank->device, plan, batch, micro, &result, err))
        return false;
    rank->result.loss_sum += result.loss_sum;
    rank->result.correct += result.correct;
    return true;
}

/* One pass of a micro-batch, once what it reads is there. */
static bool run_task(const struct passes *p, int index, struct error *err)
{
    struct rank *rank = p->rank;
    const struct pipeline_task *task = &p->tasks[index];
    const struct micro_batch micro = micro_of(p, task->micro_batch);
    const long before = rank->train[rank->ranks->step.size].before;
    const struct batch batch = rank_batch(rank, before + micro_begin(p->split, task->micro_batch),
                                          micro_rows(p->split, task->micro_batch));
    struct plan *plan = plan_of(p, task->micro_batch);
    if (!wait_for_neighbour(p, task->backward, err))
        return false;
    const double began = clock_seconds(), begin = rank->ranks->clock();
    bool ok = task->backward ? rank->backend->plan_backward(rank->device, plan, &batch, &micro, err)
                             : run_forward(p, plan, &batch, &micro, err);
    rank->times.pass_s += rank->ranks->clock() - begin;
    const struct pipeline_span span = {began, clock_seconds()};
    *p->seconds += span.end - span.begin;
    if (p->spans)
        p->spans[index] = span;
    /* Only now, so that no neighbour is seen to begin before this has ended. */
    if (ok)
        (task->backward ? handover_answer : handover_give)(p->handover, rank->stage_index);
    rank_progress(rank);
    return ok;
}

/* Gradients that the passes of a window, whose last was this micro-batch's, have left. */
static bool finish(const struct passes *p, int last, struct error *err)
{
    struct rank *rank = p->rank;
    const int window = last / pipeline_window(p->split->count);
    const long rows = rows_before_in_window(p->split, last) + micro_rows(p->split, last);
    const double began = clock_seconds(), begin = rank->ranks->clock();
    bool any = false;
    bool ok = !rank->backend->plan_finish ||
              rank->backend->plan_finish(rank->device, plan_of(p, last), (int)rows, window == 0,
                                         &any, err);
    rank->times.pass_s += rank->ranks->clock() - begin;
    if (p->spans)
        rank->ranks->pipeline->stage[rank->index].finish[window] =
            any ? (struct pipeline_span){began, clock_seconds()} : (struct pipeline_span){0};
    return ok;
}

/* All passes, in the order of the schedule. */
static bool run_passes(const struct passes *p, struct error *err)
{
    const int count = p->split->count;
    for (int i = 0; i < 2 * count; i++) {
        const struct pipeline_task *task = &p->tasks[i];
        if (!run_task(p, i, err) ||
            (task->backward && pipeline_window_ends(count, task->micro_batch) &&
             !finish(p, task->micro_batch, err)))
            return false;
    }
    return true;
}

/* Of a full step. */
static void note_step(const struct rank *rank)
{
    struct pipeline *pipeline = rank->ranks->pipeline;
    pipeline->stage[rank->index].update =
        (struct pipeline_span){rank->times.end - rank->times.update_s, rank->times.end};
    if (rank->index > 0)
        return;
    pipeline->step = rank->ranks->step.number;
    pipeline->begin = rank->ranks->step.begin_s;
}

/* Of a step without rows. */
static bool clear_gradients(const struct rank *rank, struct error *err)
{
    const size_t count = rank->replica->count;
    if (rank->replica->host_accessible) {
        memset(rank->replica->grads, 0, count * sizeof *rank->replica->grads);
        return true;
    }
    float *zeros = calloc(count + 1, sizeof *zeros);
    bool ok = zeros ? rank->backend->arena_write(rank->device, rank->replica, ARENA_GRADS, 0, count,
                                                 zeros, err)
                    : error_memory(err, "gradients");
    free(zeros);
    return ok;
}

static void note_short_step(const struct rank *rank, const struct micro_split *split)
{
    struct pipeline_stage *stage = &rank->ranks->pipeline->stage[rank->index];
    if (split->count == 0)
        return;
    stage->short_rows = (double)rank->train[PASS_SHORT].rows / split->count;
    stage->short_s = stage->step_s / split->count;
}

/* With the ranks of other pipelines that have this stage. */
static bool sum_gradients(struct rank *rank, const struct micro_split *split, struct error *err)
{
    return rank->ranks->pipeline->count == 1 ||
           ((split->count > 0 || clear_gradients(rank, err)) && rank_sum_gradients(rank, err));
}

static bool step(struct rank *rank, struct error *err)
{
    const struct passes p = passes_of(rank);
    *p.seconds = 0;
    rank->result = (struct batch_result){0};
    rank->times = (struct step_times){.begin = clock_seconds()};
    bool ok = run_passes(&p, err) && sum_gradients(rank, p.split, err) && own_update(rank, err);
    rank->times.compute_s = rank->times.pass_s + rank->times.update_s;
    rank->times.end = clock_seconds();
    if (p.spans)
        note_step(rank);
    else
        note_short_step(rank, p.split);
    return ok;
}

bool stage_step(void *context, int index, struct error *err)
{
    struct ranks *ranks = context;
    struct rank *rank = &ranks->rank[index];
    bool ok = step(rank, err);
    rank->parts[ranks->step.number % PASSES_QUEUED] = (struct step_part){
        .rows = rank->train[ranks->step.size].rows, .result = rank->result, .times = rank->times};
    return ok;
}

/* Values and their gradients, at all cuts, and the gradients that are summed up. */
static double step_bytes(const struct ranks *ranks)
{
    double bytes = 0;
    for (int i = 0; i < ranks->count; i++) {
        const struct rank *rank = &ranks->rank[i];
        bytes += 2.0 * rank->train[PASS_FULL].rows *
                 (double)rank->backend->stage_row(rank->replica, true);
        if (ranks->pipeline->count > 1 && rank->pipeline_index == 0)
            bytes += (double)rank->replica->count * sizeof(float);
    }
    return bytes;
}

static const char *how(const struct ranks *ranks)
{
    return ranks->pipeline->count > 1 ? ranks->pipeline->groups[0].group.description
                                      : "none: each stage has parameters of its own";
}

const struct strategy_tasks strategy_pipeline = {.prepare = stage_prepare,
                                                 .change_shares = stage_change_shares,
                                                 .step = stage_step,
                                                 .evaluate = stage_evaluate,
                                                 .step_bytes = step_bytes,
                                                 .how = how};

/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* What the thread of one device does. */

static void show(struct rank *rank, enum activity activity)
{
    atomic_store(&rank->activity, activity);
}

static void give_sign(struct rank *rank)
{
    atomic_fetch_add(&rank->run->signs, 1);
}

/* Is this the rank whose failure called the others off? */
static bool is_culprit(const struct rank *rank)
{
    struct error reason = ERROR_INIT;
    int culprit;
    return barrier_aborted(rank->run->barrier, &culprit, &reason) && culprit == rank->index;
}

/*
 * The end of every task. The first rank that fails calls the others off; those then fail with its
 * reason, which does not count.
 */
static bool conclude(struct rank *rank, bool ok, struct error *err)
{
    if (!ok) {
        if (!strstr(err->text, rank->name))
            error_prefix(err, "%s", rank->name);
        barrier_abort(rank->run->barrier, rank->index, err);
        show(rank, is_culprit(rank) ? ACTIVITY_FAILED : ACTIVITY_IDLE);
        sync_break_off(&rank->run->group, rank->index);
    }
    give_sign(rank);
    return ok;
}

/* A device without rows in this step is idle, although it takes part in the reduction. */
static enum activity busy_state(const struct rank *rank)
{
    return rank->train[rank->run->step.size].rows > 0 ? ACTIVITY_TRAIN : ACTIVITY_IDLE;
}

bool rank_allreduce(void *context, double *values, size_t count, struct error *err)
{
    struct rank *rank = context;
    double (*clock)(void) = rank->run->limits.clock;
    double begin = clock(), waited = 0;
    show(rank, ACTIVITY_WAIT);
    bool ok = barrier_sum(rank->run->barrier, rank->index, values, count, &waited, err);
    show(rank, busy_state(rank));
    rank->times.wait_s += waited;
    rank->times.sync_bn_s += clock() - begin - waited;
    return ok;
}

bool rank_queue_allreduce(void *context, const double *own, double *all, size_t count, bool *queued,
                          struct error *err)
{
    struct rank *rank = context;
    return sync_queue_allreduce(&rank->run->group, rank->index, own, all, count, queued, err);
}

static bool prepare(struct rank *rank, struct error *err)
{
    struct run *run = rank->run;
    struct replica **replica = &run->replicas[rank->index];
    rank->facts.type = rank->options.type;
    if (!rank->backend->open(&rank->options, &rank->device, err) ||
        (rank->backend->facts && !rank->backend->facts(rank->device, &rank->facts, err)) ||
        !rank->backend->replica_create(rank->device, run->net, replica, err) ||
        !plans_get(rank, err) ||
        !rank->backend->replica_import(rank->device, *replica, &run->weights, err))
        return false;
    const float *momentum = run->saving.resumed.momentum;
    return !momentum ||
           rank->backend->values_import(rank->device, *replica, ARENA_MOMENTUM, momentum, err);
}

bool rank_prepare(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct run *)context)->ranks[index];
    show(rank, ACTIVITY_PREPARE);
    bool ok = prepare(rank, err);
    if (ok)
        show(rank, ACTIVITY_IDLE);
    return conclude(rank, ok, err);
}

bool rank_change_shares(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct run *)context)->ranks[index];
    enum activity before = (enum activity)atomic_load(&rank->activity);
    show(rank, ACTIVITY_PREPARE);
    bool ok = plans_get(rank, err);
    if (ok)
        show(rank, before);
    return conclude(rank, ok, err);
}

bool rank_join(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct error refusal = ERROR_INIT;
    (void)err;
    /* Not the end of the run: there may be another transport, which run_connect tries. */
    if (!sync_join(&run->group, index, &refusal)) {
        if (!strstr(refusal.text, run->names[index]))
            error_prefix(&refusal, "%s", run->names[index]);
        run->refusals[index] = refusal;
    }
    return conclude(&run->ranks[index], true, err);
}

bool rank_leave(void *context, int index, struct error *err)
{
    struct run *run = context;
    sync_leave(&run->group, index);
    return conclude(&run->ranks[index], true, err);
}

bool rank_bucket_ready(void *context, int bucket, struct error *err)
{
    struct rank *rank = context;
    return sync_bucket_ready(&rank->run->group, rank->index, bucket, err);
}

/* What this device will be given next, if the epoch goes on. */
static void foresee(const struct rank *rank, struct batch *batch)
{
    const struct run *run = rank->run;
    long begin = run->step.begin + run->step.rows, before, rows;
    if (begin >= run->train_rows)
        return;
    enum pass_size size = run->step.size == PASS_FULL && run->train_rows - begin >= run->step.rows
                              ? PASS_FULL
                              : PASS_SHORT;
    run_shard(run, rank->index, size, &before, &rows);
    batch->next_index = run->order + begin + before;
    batch->next_rows = (int)rows;
}

/* Forward and backward pass over this device's shard. */
static bool compute(struct rank *rank, struct error *err)
{
    struct run *run = rank->run;
    const struct step *step = &run->step;
    struct pass *pass = &rank->train[step->size];
    struct step_times *times = &rank->times;
    long before, rows;
    run_shard(run, rank->index, step->size, &before, &rows);
    struct batch batch = {
        .data = &run->data.train,
        .index = run->order + step->begin + before,
        .rows = pass->rows,
        .global_rows = step->rows,
        .seed = run->spec.seed,
        .epoch = step->epoch,
        .augment = run->spec.augment,
        .unprofiled = run->unprofiled_left > 0,
    };
    foresee(rank, &batch);
    show(rank, busy_state(rank));
    double begin = run->limits.clock();
    bool ok = run->ahead.queues
                  ? rank->backend->plan_queue(rank->device, pass->plan, &batch, err)
                  : rank->backend->plan_run(rank->device, pass->plan, &batch, &rank->result, err);
    times->pass_s = run->limits.clock() - begin - times->sync_bn_s - times->wait_s;
    times->compute_s += times->pass_s;
    pass->warm = ok;
    give_sign(rank);
    return ok;
}

static bool update(struct rank *rank, struct error *err)
{
    struct run *run = rank->run;
    struct replica *replica = run->replicas[rank->index];
    if (run->group.algorithm->one_updates && rank->index != 0)
        return true;
    double begin = clock_seconds();
    bool ok = rank->backend->sgd(rank->device, replica, 0, replica->count, &run->step.sgd, err);
    rank->times.update_s = clock_seconds() - begin;
    rank->times.compute_s += rank->times.update_s;
    return ok;
}

/* What was queued for the step until here ends in this moment. */
static bool mark(struct rank *rank, enum pass_moment moment, struct error *err)
{
    return !rank->run->ahead.queues || rank->backend->plan_mark(rank->device, moment, err);
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
    struct run *run = rank->run;
    struct sync_times times = {0, 0};
    rank->result = (struct batch_result){0, 0};
    rank->times = (struct step_times){.begin = clock_seconds()};
    /* A first pass loads code, for which a device may have to be idle: nothing beside it then. */
    run->ends[rank->index].overlaps = rank->train[run->step.size].warm;
    if (!sync_before(&run->group, rank->index, &times, err) || !compute(rank, err))
        return false;
    show(rank, ACTIVITY_WAIT);
    if (!sync_after(&run->group, rank->index, &times, err))
        return false;
    if (!run->ahead.queues) {
        rank->times.reduce_s += times.moving_s;
        rank->times.meet_s = times.wait_s;
        rank->times.wait_s += times.wait_s;
    }
    return (run->rank_count == 1 || mark(rank, PASS_REDUCED, err)) && update(rank, err) &&
           mark(rank, PASS_UPDATED, err);
}

/* The oldest step that is queued; where steps are not, it has been done in its own task. */
static bool take(struct rank *rank, struct error *err)
{
    const struct run *run = rank->run;
    const struct step *step = run_oldest_step(run);
    struct step_part *part = &rank->parts[step->number % PASSES_QUEUED];
    struct pass_outcome outcome;
    if (run->ahead.queues) {
        if (!rank->backend->plan_take(rank->device, &outcome, err))
            return error_prefix(err, "step %ld", step->number);
        take_times(&part->times, outcome.seconds);
        part->result = outcome.result;
    }
    part->times.end = clock_seconds();
    return true;
}

bool rank_take(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct run *)context)->ranks[index];
    return conclude(rank, take(rank, err), err);
}

bool rank_step(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct rank *rank = &run->ranks[index];
    bool ok = step(rank, err);
    rank->parts[run->step.number % PASSES_QUEUED] = (struct step_part){
        .rows = rank->train[run->step.size].rows,
        .result = rank->result,
        .times = rank->times,
    };
    ok = ok && (!run->ahead.takes || take(rank, err));
    /* The next step follows at once: what a viewer sees in between is a device that trains. */
    if (ok)
        show(rank, busy_state(rank));
    return conclude(rank, ok, err);
}

static bool add_result(struct rank *rank, const struct batch_result *result)
{
    rank->result.loss_sum += result->loss_sum;
    rank->result.correct += result->correct;
    give_sign(rank);
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

/* One pass; *queued counts those that are not taken, of devices that compute beside the host. */
static bool evaluate_rows(struct rank *rank, struct pass *pass, long begin, int *queued,
                          struct error *err)
{
    struct run *run = rank->run;
    const struct backend *backend = rank->backend;
    struct batch_result result = {0, 0};
    const struct batch batch = {
        .data = &run->data.test,
        .index = run->test_order + begin,
        .rows = pass->rows,
        .global_rows = pass->rows,
        .seed = run->spec.seed,
        .epoch = run->step.epoch,
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
    struct run *run = rank->run;
    long begin = rank->eval_begin, end = begin + rank->eval_rows;
    int queued = 0;
    rank->result = (struct batch_result){0, 0};
    if (!sync_even_out(&run->group, rank->index, run->statistics_from, err))
        return false;
    while (begin < end && !atomic_load(&run->cut) && !barrier_called_off(run->barrier)) {
        bool full = end - begin >= rank->eval[PASS_FULL].rows;
        struct pass *pass = &rank->eval[full ? PASS_FULL : PASS_SHORT];
        if (!evaluate_rows(rank, pass, begin, &queued, err))
            return false;
        begin += pass->rows;
    }
    return take_evaluated(rank, &queued, 0, err);
}

bool rank_evaluate(void *context, int index, struct error *err)
{
    struct rank *rank = &((struct run *)context)->ranks[index];
    show(rank, rank->eval_rows > 0 ? ACTIVITY_EVAL : ACTIVITY_IDLE);
    bool ok = evaluate(rank, err);
    if (ok)
        show(rank, ACTIVITY_WAIT);
    return conclude(rank, ok, err);
}

bool rank_export(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct rank *rank = &run->ranks[index];
    bool ok =
        run->statistics_from == 0 || sync_even_out(&run->group, index, run->statistics_from, err);
    if (ok && index == 0)
        ok = rank->backend->replica_export(rank->device, run->replicas[0], &run->weights, err);
    return conclude(rank, ok, err);
}

bool rank_export_momentum(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct rank *rank = &run->ranks[index];
    bool ok =
        index != 0 || rank->backend->values_export(rank->device, run->replicas[0], ARENA_MOMENTUM,
                                                   run->saving.buffer->momentum, err);
    return conclude(rank, ok, err);
}

void rank_close(void *context, int index)
{
    struct run *run = context;
    struct rank *rank = &run->ranks[index];
    const struct backend *backend = rank->backend;
    sync_leave(&run->group, index);
    plans_release(rank);
    if (run->replicas[index])
        backend->replica_destroy(rank->device, run->replicas[index]);
    if (rank->device)
        backend->close(rank->device);
}

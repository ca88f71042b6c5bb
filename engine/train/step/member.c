/* SPDX-License-Identifier: MIT */
#include "engine/train/run/run_state.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* What the thread of one device does. */

static void show(struct member *member, enum activity activity)
{
    atomic_store(&member->activity, activity);
}

static void give_sign(struct member *member)
{
    atomic_fetch_add(&member->run->signs, 1);
}

/* Is this the member whose failure called the others off? */
static bool is_culprit(const struct member *member)
{
    struct error reason = ERROR_INIT;
    int culprit;
    return rendezvous_aborted(member->run->meeting, &culprit, &reason) && culprit == member->index;
}

/*
 * The end of every task. The first member that fails calls the others off; those then fail with its
 * reason, which does not count.
 */
static bool conclude(struct member *member, bool ok, struct error *err)
{
    if (!ok) {
        if (!strstr(err->text, member->name))
            error_prefix(err, "%s", member->name);
        rendezvous_abort(member->run->meeting, member->index, err);
        show(member, is_culprit(member) ? ACTIVITY_FAILED : ACTIVITY_IDLE);
        sync_break_off(&member->run->group, member->index);
    }
    give_sign(member);
    return ok;
}

/* A device without rows in this step is idle, although it takes part in the reduction. */
static enum activity busy_state(const struct member *member)
{
    return member->train[member->run->step.size].rows > 0 ? ACTIVITY_TRAIN : ACTIVITY_IDLE;
}

bool member_exchange_sum(void *context, double *values, size_t count, struct error *err)
{
    struct member *member = context;
    double (*clock)(void) = member->run->limits.clock;
    double begin = clock(), waited = 0;
    show(member, ACTIVITY_WAIT);
    bool ok = rendezvous_sum(member->run->meeting, member->index, values, count, &waited, err);
    show(member, busy_state(member));
    member->times.wait_s += waited;
    member->times.exchange_s += clock() - begin - waited;
    return ok;
}

bool member_exchange_queue(void *context, const double *own, double *all, size_t count,
                           bool *queued, struct error *err)
{
    struct member *member = context;
    return sync_sum_inside(&member->run->group, member->index, own, all, count, queued, err);
}

static bool prepare(struct member *member, struct error *err)
{
    struct run *run = member->run;
    struct replica **replica = &run->replicas[member->index];
    member->facts.type = member->options.type;
    if (!member->backend->open(&member->options, &member->device, err) ||
        (member->backend->facts && !member->backend->facts(member->device, &member->facts, err)) ||
        !member->backend->replica_create(member->device, run->net, replica, err) ||
        !plans_get(member, err) ||
        !member->backend->replica_import(member->device, *replica, &run->weights, err))
        return false;
    const float *momentum = run->saving.resumed.momentum;
    return !momentum ||
           member->backend->values_import(member->device, *replica, ARENA_MOMENTUM, momentum, err);
}

bool member_prepare(void *context, int index, struct error *err)
{
    struct member *member = &((struct run *)context)->members[index];
    show(member, ACTIVITY_PREPARE);
    bool ok = prepare(member, err);
    if (ok)
        show(member, ACTIVITY_IDLE);
    return conclude(member, ok, err);
}

bool member_reshare(void *context, int index, struct error *err)
{
    struct member *member = &((struct run *)context)->members[index];
    enum activity before = (enum activity)atomic_load(&member->activity);
    show(member, ACTIVITY_PREPARE);
    bool ok = plans_get(member, err);
    if (ok)
        show(member, before);
    return conclude(member, ok, err);
}

bool member_join(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct error refusal = ERROR_INIT;
    (void)err;
    /* Not the end of the run: there may be another way, and run_connect knows. */
    if (!sync_join(&run->group, index, &refusal)) {
        if (!strstr(refusal.text, run->names[index]))
            error_prefix(&refusal, "%s", run->names[index]);
        run->refusals[index] = refusal;
    }
    return conclude(&run->members[index], true, err);
}

bool member_leave(void *context, int index, struct error *err)
{
    struct run *run = context;
    sync_leave(&run->group, index);
    return conclude(&run->members[index], true, err);
}

bool member_piece_ready(void *context, int piece, struct error *err)
{
    struct member *member = context;
    return sync_piece_ready(&member->run->group, member->index, piece, err);
}

/* What this device will be given next, if the epoch goes on. */
static void foresee(const struct member *member, struct batch *batch)
{
    const struct run *run = member->run;
    long begin = run->step.begin + run->step.rows, before, rows;
    if (begin >= run->train_rows)
        return;
    enum pass_size size = run->step.size == PASS_FULL && run->train_rows - begin >= run->step.rows
                              ? PASS_FULL
                              : PASS_SHORT;
    run_shard(run, member->index, size, &before, &rows);
    batch->next_index = run->order + begin + before;
    batch->next_rows = (int)rows;
}

/* Forward and backward pass over this device's shard. */
static bool compute(struct member *member, struct error *err)
{
    struct run *run = member->run;
    const struct step *step = &run->step;
    struct pass *pass = &member->train[step->size];
    struct step_times *times = &member->times;
    long before, rows;
    run_shard(run, member->index, step->size, &before, &rows);
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
    foresee(member, &batch);
    show(member, busy_state(member));
    double begin = run->limits.clock();
    bool ok =
        run->ahead.queues
            ? member->backend->plan_queue(member->device, pass->plan, &batch, err)
            : member->backend->plan_run(member->device, pass->plan, &batch, &member->result, err);
    times->pass_s = run->limits.clock() - begin - times->exchange_s - times->wait_s;
    times->compute_s += times->pass_s;
    pass->warm = ok;
    give_sign(member);
    return ok;
}

static bool update(struct member *member, struct error *err)
{
    struct run *run = member->run;
    struct replica *replica = run->replicas[member->index];
    if (run->group.algorithm->one_updates && member->index != 0)
        return true;
    double begin = clock_seconds();
    bool ok = member->backend->sgd(member->device, replica, 0, replica->count, &run->step.sgd, err);
    member->times.update_s = clock_seconds() - begin;
    member->times.compute_s += member->times.update_s;
    return ok;
}

/* What was queued for the step until here ends in this moment. */
static bool mark(struct member *member, enum pass_moment moment, struct error *err)
{
    return !member->run->ahead.queues || member->backend->plan_mark(member->device, moment, err);
}

/* The device's own clock, in place of this thread's, which only queued the step. */
static void take_times(struct step_times *times, const double *seconds)
{
    /* A pass may have waited for others in the middle. */
    times->pass_s = fmax(0, seconds[PASS_DONE] - times->exchange_s - times->wait_s);
    times->update_s = seconds[PASS_UPDATED];
    times->reduce_s = seconds[PASS_REDUCED];
    times->compute_s = times->pass_s + times->update_s;
}

static bool step(struct member *member, struct error *err)
{
    struct run *run = member->run;
    struct sync_times times = {0, 0};
    member->result = (struct batch_result){0, 0};
    member->times = (struct step_times){.begin = clock_seconds()};
    /* A first pass loads code, for which a device may have to be idle: nothing beside it then. */
    run->ends[member->index].overlaps = member->train[run->step.size].warm;
    if (!sync_before(&run->group, member->index, &times, err) || !compute(member, err))
        return false;
    show(member, ACTIVITY_WAIT);
    if (!sync_after(&run->group, member->index, &times, err))
        return false;
    if (!run->ahead.queues) {
        member->times.reduce_s += times.moving_s;
        member->times.meet_s = times.wait_s;
        member->times.wait_s += times.wait_s;
    }
    return (run->member_count == 1 || mark(member, PASS_REDUCED, err)) && update(member, err) &&
           mark(member, PASS_UPDATED, err);
}

/* The oldest step that is queued; where steps are not, it has been done in its own task. */
static bool take(struct member *member, struct error *err)
{
    const struct run *run = member->run;
    const struct step *step = run_oldest_step(run);
    struct step_part *part = &member->parts[step->number % PASSES_QUEUED];
    struct pass_outcome outcome;
    if (run->ahead.queues) {
        if (!member->backend->plan_take(member->device, &outcome, err))
            return error_prefix(err, "step %ld", step->number);
        take_times(&part->times, outcome.seconds);
        part->result = outcome.result;
    }
    part->times.end = clock_seconds();
    return true;
}

bool member_take(void *context, int index, struct error *err)
{
    struct member *member = &((struct run *)context)->members[index];
    return conclude(member, take(member, err), err);
}

bool member_step(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct member *member = &run->members[index];
    bool ok = step(member, err);
    member->parts[run->step.number % PASSES_QUEUED] = (struct step_part){
        .rows = member->train[run->step.size].rows,
        .result = member->result,
        .times = member->times,
    };
    ok = ok && (!run->ahead.takes || take(member, err));
    /* The next step follows at once: what a viewer sees in between is a device that trains. */
    if (ok)
        show(member, busy_state(member));
    return conclude(member, ok, err);
}

static bool add_result(struct member *member, const struct batch_result *result)
{
    member->result.loss_sum += result->loss_sum;
    member->result.correct += result->correct;
    give_sign(member);
    return true;
}

/* Take passes until no more than `left` are queued. */
static bool take_evaluated(struct member *member, int *queued, int left, struct error *err)
{
    struct pass_outcome outcome;
    for (; *queued > left; (*queued)--)
        if (!member->backend->plan_take(member->device, &outcome, err) ||
            !add_result(member, &outcome.result))
            return false;
    return true;
}

/* One pass; *queued counts those that are not taken, of devices that compute beside the host. */
static bool evaluate_rows(struct member *member, struct pass *pass, long begin, int *queued,
                          struct error *err)
{
    struct run *run = member->run;
    const struct backend *backend = member->backend;
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
        return backend->plan_run(member->device, pass->plan, &batch, &result, err) &&
               add_result(member, &result);
    if (!backend->plan_queue(member->device, pass->plan, &batch, err))
        return false;
    ++*queued;
    const int most = pass->warm ? PASSES_AHEAD : 0;
    pass->warm = true;
    return take_evaluated(member, queued, most, err);
}

static bool evaluate(struct member *member, struct error *err)
{
    struct run *run = member->run;
    long begin = member->eval_begin, end = begin + member->eval_rows;
    int queued = 0;
    member->result = (struct batch_result){0, 0};
    if (!sync_even_out(&run->group, member->index, run->statistics_from, err))
        return false;
    while (begin < end && !atomic_load(&run->cut) && !rendezvous_called_off(run->meeting)) {
        bool full = end - begin >= member->eval[PASS_FULL].rows;
        struct pass *pass = &member->eval[full ? PASS_FULL : PASS_SHORT];
        if (!evaluate_rows(member, pass, begin, &queued, err))
            return false;
        begin += pass->rows;
    }
    return take_evaluated(member, &queued, 0, err);
}

bool member_evaluate(void *context, int index, struct error *err)
{
    struct member *member = &((struct run *)context)->members[index];
    show(member, member->eval_rows > 0 ? ACTIVITY_EVAL : ACTIVITY_IDLE);
    bool ok = evaluate(member, err);
    if (ok)
        show(member, ACTIVITY_WAIT);
    return conclude(member, ok, err);
}

bool member_export(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct member *member = &run->members[index];
    bool ok =
        run->statistics_from == 0 || sync_even_out(&run->group, index, run->statistics_from, err);
    if (ok && index == 0)
        ok = member->backend->replica_export(member->device, run->replicas[0], &run->weights, err);
    return conclude(member, ok, err);
}

bool member_export_momentum(void *context, int index, struct error *err)
{
    struct run *run = context;
    struct member *member = &run->members[index];
    bool ok = index != 0 ||
              member->backend->values_export(member->device, run->replicas[0], ARENA_MOMENTUM,
                                             run->saving.buffer->momentum, err);
    return conclude(member, ok, err);
}

void member_close(void *context, int index)
{
    struct run *run = context;
    struct member *member = &run->members[index];
    const struct backend *backend = member->backend;
    sync_leave(&run->group, index);
    plans_release(member);
    if (run->replicas[index])
        backend->replica_destroy(member->device, run->replicas[index]);
    if (member->device)
        backend->close(member->device);
}

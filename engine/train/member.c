/* SPDX-License-Identifier: MIT */
#include "engine/train/run_state.h"

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
    };
    foresee(member, &batch);
    /* A first pass loads code, for which a device may have to be idle: nothing beside it then. */
    run->ends[member->index].overlaps = pass->warm;
    show(member, busy_state(member));
    double begin = run->limits.clock();
    bool ok = member->backend->plan_run(member->device, pass->plan, &batch, &member->result, err);
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

static bool step(struct member *member, struct error *err)
{
    struct run *run = member->run;
    struct sync_times times = {0, 0};
    member->result = (struct batch_result){0, 0};
    member->times = (struct step_times){.begin = clock_seconds()};
    if (!sync_before(&run->group, member->index, &times, err) || !compute(member, err))
        return false;
    show(member, ACTIVITY_WAIT);
    if (!sync_after(&run->group, member->index, &times, err))
        return false;
    member->times.reduce_s += times.moving_s;
    member->times.meet_s = times.wait_s;
    member->times.wait_s += times.wait_s;
    return update(member, err);
}

bool member_step(void *context, int index, struct error *err)
{
    struct member *member = &((struct run *)context)->members[index];
    bool ok = step(member, err);
    member->times.end = clock_seconds();
    /* The next step follows at once: what a viewer sees in between is a device that trains. */
    if (ok)
        show(member, busy_state(member));
    return conclude(member, ok, err);
}

static bool evaluate_rows(struct member *member, const struct pass *pass, long begin,
                          struct error *err)
{
    struct run *run = member->run;
    struct batch_result result = {0, 0};
    struct batch batch = {
        .data = &run->data.test,
        .index = run->test_order + begin,
        .rows = pass->rows,
        .global_rows = pass->rows,
        .seed = run->spec.seed,
        .epoch = run->step.epoch,
    };
    if (!member->backend->plan_run(member->device, pass->plan, &batch, &result, err))
        return false;
    member->result.loss_sum += result.loss_sum;
    member->result.correct += result.correct;
    give_sign(member);
    return true;
}

static bool evaluate(struct member *member, struct error *err)
{
    struct run *run = member->run;
    long begin = member->eval_begin, end = begin + member->eval_rows;
    member->result = (struct batch_result){0, 0};
    if (!sync_even_out(&run->group, member->index, run->statistics_from, err))
        return false;
    while (begin < end && !atomic_load(&run->cut) && !rendezvous_called_off(run->meeting)) {
        bool full = end - begin >= member->eval[PASS_FULL].rows;
        const struct pass *pass = &member->eval[full ? PASS_FULL : PASS_SHORT];
        if (!evaluate_rows(member, pass, begin, err))
            return false;
        begin += pass->rows;
    }
    return true;
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

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

/*
 * The end of every task. The first member that fails calls the others off; those then fail with its
 * reason, which does not count.
 */
static bool conclude(struct member *member, bool ok, struct error *err)
{
    if (!ok) {
        if (!strstr(err->text, member->name))
            error_prefix(err, "%s", member->name);
        show(member, ACTIVITY_FAILED);
        rendezvous_abort(member->run->meeting, member->index, err);
    }
    give_sign(member);
    return ok;
}

/* A device without rows in this step is idle, although it takes part in the reduction. */
static enum activity busy_state(const struct member *member)
{
    return member->train[member->run->step.size].rows > 0 ? ACTIVITY_TRAIN : ACTIVITY_IDLE;
}

/* struct device_exchange: BatchNorm sums over all devices, in the middle of a pass. */
static bool exchange_sum(void *context, double *values, size_t count, struct error *err)
{
    struct member *member = context;
    double begin = clock_seconds(), waited = 0;
    show(member, ACTIVITY_WAIT);
    bool ok = rendezvous_sum(member->run->meeting, member->index, values, count, &waited, err);
    show(member, busy_state(member));
    member->times.wait_s += waited;
    member->times.exchange_s += clock_seconds() - begin - waited;
    return ok;
}

static bool create_plan(struct member *member, enum plan_mode mode, struct pass *pass,
                        struct error *err)
{
    struct run *run = member->run;
    struct plan_request request = {.mode = mode, .rows = pass->rows};
    struct plan_memory memory = {0};
    if (mode == PLAN_TRAIN && run->member_count > 1 && run->spec.sync_bn) {
        request.sync_bn = true;
        request.exchange = (struct device_exchange){exchange_sum, member};
    }
    if (!member->backend->plan_create(member->device, run->replicas[member->index], &request,
                                      &pass->plan, err))
        return false;
    give_sign(member);
    member->backend->plan_memory(pass->plan, &memory);
    /* The plans of a device share its workspace, so the largest one counts. */
    uint64_t bytes = memory.activations + memory.scratch + memory.input;
    if (bytes > member->memory_bytes)
        member->memory_bytes = bytes;
    return true;
}

static bool create_plans(struct member *member, struct error *err)
{
    struct pass *train = member->train, *eval = member->eval;
    if (!create_plan(member, PLAN_TRAIN, &train[PASS_FULL], err) ||
        (member->trains_short && train[PASS_SHORT].rows != train[PASS_FULL].rows &&
         !create_plan(member, PLAN_TRAIN, &train[PASS_SHORT], err)))
        return false;
    for (int size = 0; size < PASS_SIZES; size++)
        if (eval[size].rows > 0 && !create_plan(member, PLAN_EVAL, &eval[size], err))
            return false;
    return true;
}

static bool prepare(struct member *member, struct error *err)
{
    struct run *run = member->run;
    struct replica **replica = &run->replicas[member->index];
    if (!member->backend->open(&member->options, &member->device, err) ||
        !member->backend->replica_create(member->device, run->net, replica, err) ||
        !create_plans(member, err) ||
        !member->backend->replica_import(member->device, *replica, &run->weights, err))
        return false;
    member->memory_bytes += (3 * (*replica)->count + (*replica)->state_count) * sizeof(float);
    return true;
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

/* The pass for batches of this size; sizes that are equal here share one plan. */
static const struct pass *train_pass(const struct member *member, enum pass_size size)
{
    return &member->train[member->train[size].plan ? size : PASS_FULL];
}

/* Forward and backward pass over this device's shard. */
static bool compute(struct member *member, struct error *err)
{
    struct run *run = member->run;
    const struct step *step = &run->step;
    const struct pass *pass = train_pass(member, step->size);
    struct step_times *times = &member->times;
    struct batch batch = {
        .data = &run->data.train,
        .index = run->order + step->begin,
        .rows = pass->rows,
        .global_rows = step->rows,
        .seed = run->spec.seed,
        .epoch = step->epoch,
    };
    for (int i = 0; i < member->index; i++)
        batch.index += run->members[i].train[step->size].rows;
    show(member, busy_state(member));
    double begin = clock_seconds();
    bool ok = member->backend->plan_run(member->device, pass->plan, &batch, &member->result, err);
    times->compute_s += clock_seconds() - begin - times->exchange_s - times->wait_s;
    give_sign(member);
    return ok;
}

static bool update(struct member *member, struct error *err)
{
    struct run *run = member->run;
    struct replica *replica = run->replicas[member->index];
    if (run->algorithm->one_updates && member->index != 0)
        return true;
    double begin = clock_seconds();
    bool ok = member->backend->sgd(member->device, replica, 0, replica->count, &run->step.sgd, err);
    member->times.compute_s += clock_seconds() - begin;
    return ok;
}

static bool step(struct member *member, struct error *err)
{
    struct run *run = member->run;
    const struct sync_algorithm *algorithm = run->algorithm;
    bool alone = run->member_count == 1;
    struct sync_times times = {0, 0};
    member->result = (struct batch_result){0, 0};
    member->times = (struct step_times){0, 0, 0, 0};
    if (!alone && algorithm->before && !algorithm->before(&run->group, member->index, &times, err))
        return false;
    if (!compute(member, err))
        return false;
    show(member, ACTIVITY_WAIT);
    if (!alone && !algorithm->after(&run->group, member->index, &times, err))
        return false;
    member->times.reduce_s += times.moving_s;
    member->times.wait_s += times.wait_s;
    return update(member, err);
}

bool member_step(void *context, int index, struct error *err)
{
    struct member *member = &((struct run *)context)->members[index];
    bool ok = step(member, err);
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
    int culprit;
    struct error reason;
    long begin = member->eval_begin, end = begin + member->eval_rows;
    member->result = (struct batch_result){0, 0};
    sync_fetch_statistics(&run->group, member->index, run->statistics_from);
    if (run->algorithm->one_updates)
        sync_fetch_params(&run->group, member->index, 0);
    while (begin < end && !atomic_load(&run->cut) &&
           !rendezvous_aborted(run->meeting, &culprit, &reason)) {
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
    if (index != 0)
        return true;
    sync_fetch_statistics(&run->group, index, run->statistics_from);
    return conclude(
        member,
        member->backend->replica_export(member->device, run->replicas[index], &run->weights, err),
        err);
}

void member_close(void *context, int index)
{
    struct run *run = context;
    struct member *member = &run->members[index];
    const struct backend *backend = member->backend;
    for (int size = 0; size < PASS_SIZES; size++) {
        if (member->train[size].plan)
            backend->plan_destroy(member->device, member->train[size].plan);
        if (member->eval[size].plan)
            backend->plan_destroy(member->device, member->eval[size].plan);
    }
    if (run->replicas[index])
        backend->replica_destroy(member->device, run->replicas[index]);
    if (member->device)
        backend->close(member->device);
}

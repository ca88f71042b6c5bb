/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/net/slice.h"
#include "tests/reference/conformance.h"

/* Networks divided inside their layers, a device in a thread of its own for each slice, beside the
 * reference's whole network. */

enum { MOST_SLICES = 4, MOST_GATHERS = 128, ROWS = 6 };
/* Fewer than slices: those of which finite differences meet no corner of a ReLU. */
enum { SLOPE_ROWS = 3 };

/* What the devices have in common. */
struct group {
    const struct trial *trial;
    const struct trial_device *device;
    enum plan_mode mode;
    enum net_division division;
    int count;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    float *values[MOST_GATHERS]; /* by origin */
    const void *offered[MOST_SLICES];
    struct outcome *out;
};

struct worker {
    struct group *group;
    int index;
    struct net_slice slice;
};

static void *shared_values(void *context, int origin, size_t row, struct error *err)
{
    struct group *group = ((struct worker *)context)->group;
    (void)err;
    ck_assert_int_lt(origin, MOST_GATHERS);
    pthread_mutex_lock(&group->lock);
    if (!group->values[origin])
        group->values[origin] = calloc(ROWS, row);
    ck_assert(group->values[origin]);
    pthread_mutex_unlock(&group->lock);
    return group->values[origin];
}

static bool wait_for_all(void *context, const void *own, const void *const **all, struct error *err)
{
    struct worker *worker = context;
    (void)err;
    if (own)
        worker->group->offered[worker->index] = own;
    pthread_barrier_wait(&worker->group->barrier);
    if (all)
        *all = worker->group->offered;
    return true;
}

static void import(const struct worker *worker, const struct rig *rig)
{
    struct error err = ERROR_INIT;
    struct weights own;
    bool ok = weights_create(worker->slice.net, &own, &err);
    ck_assert_msg(ok, "%s", err.text);
    net_slice_take(&worker->slice, worker->group->trial->weights.values, own.values);
    ok = replica_import(rig->backend, rig->device, rig->replica, &own, &err);
    ck_assert_msg(ok, "%s", err.text);
    weights_free(&own);
}

/* The gradients of replicated parameters are those of each one's rows. */
static void add_replicated(const struct net_slice *slice, const float *own, float *whole)
{
    for (int i = 0; i < slice->net->param_count; i++) {
        const struct net_param *param = &slice->net->params[i];
        for (size_t k = 0; slice->replicated[i] && slice->index > 0 && k < param->count; k++)
            whole[slice->offsets[i] + k] += own[param->offset + k];
    }
}

static void export(struct worker *worker, const struct rig *rig)
{
    struct error err = ERROR_INIT;
    struct outcome *out = worker->group->out;
    struct weights own, grads;
    bool ok =
        weights_create(worker->slice.net, &own, &err) &&
        weights_create(worker->slice.net, &grads, &err) &&
        replica_export(rig->backend, rig->device, rig->replica, &own, &err) &&
        rig->backend->values_export(rig->device, rig->replica, ARENA_GRADS, grads.values, &err);
    ck_assert_msg(ok, "%s", err.text);
    pthread_mutex_lock(&worker->group->lock);
    net_slice_put(&worker->slice, own.values, true, out->after.values);
    net_slice_put(&worker->slice, own.values, false, out->after.values);
    net_slice_put(&worker->slice, grads.values, true, out->grads);
    pthread_mutex_unlock(&worker->group->lock);
    wait_for_all(worker, NULL, NULL, NULL);
    pthread_mutex_lock(&worker->group->lock);
    add_replicated(&worker->slice, grads.values, out->grads);
    pthread_mutex_unlock(&worker->group->lock);
    weights_free(&own);
    weights_free(&grads);
}

/* Two passes, the second from the same weights: nothing of the first is left. */
static void *work(void *context)
{
    struct worker *worker = context;
    struct group *group = worker->group;
    struct trial own = *group->trial;
    const int rows = own.rows;
    const bool divided = group->division == NET_DIVIDE_LINEAR && group->count > 1;
    const int before = divided ? rows * worker->index / group->count : 0;
    const int end = divided ? rows * (worker->index + 1) / group->count : rows;
    const struct plan_request request = {.mode = group->mode,
                                         .rows = end - before,
                                         .rows_before = before,
                                         .global_rows = divided ? rows : 0,
                                         .exchange = {.count = group->count,
                                                      .index = worker->index,
                                                      .values = shared_values,
                                                      .wait = wait_for_all,
                                                      .context = worker}};
    struct rig rig;
    struct outcome out;
    own.net = worker->slice.net;
    bool ok = weights_create(own.net, &own.weights, &(struct error)ERROR_INIT);
    ck_assert(ok);
    rig_open(&rig, &own, group->device);
    rig.gathers_rows = divided;
    struct plan *plan = rig_plan(&rig, &request);
    for (int i = 0; i < 2; i++) {
        import(worker, &rig);
        rig_run(&rig, plan, &own, before, end - before, &out);
        wait_for_all(worker, NULL, NULL, NULL);
        if (i == 0)
            outcome_free(&out);
    }
    export(worker, &rig);
    pthread_mutex_lock(&group->lock);
    if (worker->index == group->count - 1) {
        group->out->loss_sum = out.loss_sum;
        group->out->correct = out.correct;
        for (int i = 0; i < rows * own.net->classes; i++)
            group->out->logits[i] = out.logits[i];
    }
    pthread_mutex_unlock(&group->lock);
    outcome_free(&out);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    weights_free(&own.weights);
    return NULL;
}

static void run_slices(struct group *group, struct worker *workers)
{
    pthread_t threads[MOST_SLICES];
    pthread_barrier_init(&group->barrier, NULL, (unsigned)group->count);
    pthread_mutex_init(&group->lock, NULL);
    for (int i = 0; i < group->count; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    for (int i = 0; i < group->count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < MOST_GATHERS; i++)
        free(group->values[i]);
    pthread_mutex_destroy(&group->lock);
    pthread_barrier_destroy(&group->barrier);
}

/* False: the network cannot be divided into so many. */
static bool make_workers(struct group *group, struct worker *workers)
{
    struct error err = ERROR_INIT;
    for (int i = 0; i < group->count; i++) {
        workers[i] = (struct worker){.group = group, .index = i};
        if (net_slice_make(group->trial->net, group->division, i, group->count, &workers[i].slice,
                           &err))
            continue;
        ck_assert_int_eq(i, 0);
        return false;
    }
    return true;
}

static bool has_batchnorm(const struct net *net)
{
    bool found = false;
    for (int i = 0; i < net->op_count; i++)
        found = found || net->ops[i].kind == NET_BATCHNORM;
    return found;
}

/* What the slices give together. False: there are none, or other statistics belong to each. */
static bool run(struct group *group, struct outcome *out)
{
    struct worker workers[MOST_SLICES];
    const bool own_rows = group->division == NET_DIVIDE_LINEAR && group->count > 1;
    if ((own_rows && group->mode == PLAN_TRAIN && has_batchnorm(group->trial->net)) ||
        !make_workers(group, workers))
        return false;
    outcome_make(out, group->trial, group->trial->rows);
    group->out = out;
    run_slices(group, workers);
    for (int i = 0; i < group->count; i++)
        net_slice_free(&workers[i].slice);
    return true;
}

static bool compare(struct group group, enum plan_mode mode, const struct outcome *expected,
                    double tolerance, const char *what)
{
    struct outcome got;
    char text[96];
    group.mode = mode;
    if (!run(&group, &got))
        return false;
    snprintf(text, sizeof text, "%s in %d slices", what, group.count);
    outcome_compare(group.trial, &got, expected, mode, tolerance, text);
    outcome_free(&got);
    return true;
}

bool conform_slices(const struct trial_device *device, enum net_division division, int net,
                    int count)
{
    struct trial trial;
    struct outcome trained_whole, evaluated_whole;
    char what[32];
    conformance_net_make(&trial, net, ROWS);
    trial_reference(&trial, PLAN_TRAIN, &trained_whole);
    trial_reference(&trial, PLAN_EVAL, &evaluated_whole);
    const struct group group = {
        .trial = &trial, .device = device, .division = division, .count = count};
    snprintf(what, sizeof what, "network %d of the cases", net);
    bool trained = compare(group, PLAN_TRAIN, &trained_whole, 1e-4, what);
    bool evaluated = compare(group, PLAN_EVAL, &evaluated_whole, 1e-4, what);
    outcome_free(&trained_whole);
    outcome_free(&evaluated_whole);
    trial_free(&trial);
    return trained && evaluated;
}

bool conform_slice_slopes(const struct trial_device *device, enum net_division division, int net,
                          int count)
{
    struct trial trial;
    struct outcome got;
    char what[48];
    conformance_net_make(&trial, net, SLOPE_ROWS);
    struct group group = {.trial = &trial,
                          .device = device,
                          .mode = PLAN_TRAIN,
                          .division = division,
                          .count = count};
    bool ok = run(&group, &got);
    if (ok) {
        snprintf(what, sizeof what, "network %d in %d slices", net, count);
        conform_slopes_of(&trial, got.grads, what);
        outcome_free(&got);
    }
    trial_free(&trial);
    return ok;
}

void conform_model_slices(const struct trial_device *device, enum net_division division,
                          const char *model, struct net_shape input, int most, double tolerance)
{
    struct trial trial;
    struct outcome trained, evaluated;
    trial_make_shipped(&trial, model, input, ROWS, 5);
    trial_reference(&trial, PLAN_TRAIN, &trained);
    trial_reference(&trial, PLAN_EVAL, &evaluated);
    for (int count = most; count > 1; count--) {
        const struct group group = {
            .trial = &trial, .device = device, .division = division, .count = count};
        const bool statistics = division == NET_DIVIDE_LINEAR && count > 1;
        ck_assert_msg(compare(group, PLAN_TRAIN, &trained, tolerance, model) ||
                          (statistics && has_batchnorm(trial.net)),
                      "%s", model);
        ck_assert_msg(compare(group, PLAN_EVAL, &evaluated, tolerance, model), "%s", model);
    }
    outcome_free(&trained);
    outcome_free(&evaluated);
    trial_free(&trial);
}

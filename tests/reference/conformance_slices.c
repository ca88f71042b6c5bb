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

/* What the devices have in common. */
struct group {
    const struct trial *trial;
    const struct trial_device *device;
    enum plan_mode mode;
    int count;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    float *values[MOST_GATHERS]; /* by origin */
    const float *offered[MOST_SLICES];
    struct outcome *out;
};

struct worker {
    struct group *group;
    int index;
    struct net_slice slice;
};

static float *shared_values(void *context, int origin, size_t row, struct error *err)
{
    struct group *group = ((struct worker *)context)->group;
    (void)err;
    ck_assert_int_lt(origin, MOST_GATHERS);
    pthread_mutex_lock(&group->lock);
    if (!group->values[origin])
        group->values[origin] = calloc(row * ROWS, sizeof(float));
    ck_assert(group->values[origin]);
    pthread_mutex_unlock(&group->lock);
    return group->values[origin];
}

static bool wait_for_all(void *context, const float *own, const float *const **all,
                         struct error *err)
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
    ok = rig->backend->replica_import(rig->device, rig->replica, &own, &err);
    ck_assert_msg(ok, "%s", err.text);
    weights_free(&own);
}

static void export(const struct worker *worker, const struct rig *rig)
{
    struct error err = ERROR_INIT;
    struct outcome *out = worker->group->out;
    struct weights own, grads;
    bool ok =
        weights_create(worker->slice.net, &own, &err) &&
        weights_create(worker->slice.net, &grads, &err) &&
        rig->backend->replica_export(rig->device, rig->replica, &own, &err) &&
        rig->backend->values_export(rig->device, rig->replica, ARENA_GRADS, grads.values, &err);
    ck_assert_msg(ok, "%s", err.text);
    net_slice_put(&worker->slice, own.values, out->after.values);
    net_slice_put(&worker->slice, grads.values, out->grads);
    weights_free(&own);
    weights_free(&grads);
}

/* Two passes, the second from the same weights: nothing of the first is left. */
static void *work(void *context)
{
    struct worker *worker = context;
    struct group *group = worker->group;
    struct trial own = *group->trial;
    const struct plan_request request = {
        .mode = group->mode,
        .rows = ROWS,
        .exchange = {group->count, shared_values, wait_for_all, worker}};
    struct rig rig;
    struct outcome out;
    own.net = worker->slice.net;
    bool ok = weights_create(own.net, &own.weights, &(struct error)ERROR_INIT);
    ck_assert(ok);
    rig_open(&rig, &own, group->device);
    struct plan *plan = rig_plan(&rig, &request);
    for (int i = 0; i < 2; i++) {
        import(worker, &rig);
        rig_run(&rig, plan, &own, 0, ROWS, &out);
        wait_for_all(worker, NULL, NULL, NULL);
        if (i == 0)
            outcome_free(&out);
    }
    export(worker, &rig);
    pthread_mutex_lock(&group->lock);
    if (worker->index == group->count - 1) {
        group->out->loss_sum = out.loss_sum;
        group->out->correct = out.correct;
        for (int i = 0; i < ROWS * own.net->classes; i++)
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
static bool compare(const struct trial *trial, const struct trial_device *device,
                    enum plan_mode mode, int count, double tolerance, const char *what)
{
    struct error err = ERROR_INIT;
    struct outcome got, expected;
    struct group group = {
        .trial = trial, .device = device, .mode = mode, .count = count, .out = &got};
    struct worker workers[MOST_SLICES];
    char text[96];
    for (int i = 0; i < count; i++) {
        workers[i] = (struct worker){.group = &group, .index = i};
        if (net_slice_make(trial->net, i, count, &workers[i].slice, &err))
            continue;
        ck_assert_int_eq(i, 0);
        return false;
    }
    snprintf(text, sizeof text, "%s in %d slices", what, count);
    outcome_make(&got, trial, trial->rows);
    run_slices(&group, workers);
    trial_reference(trial, mode, &expected);
    outcome_compare(trial, &got, &expected, mode, tolerance, text);
    outcome_free(&got);
    outcome_free(&expected);
    for (int i = 0; i < count; i++)
        net_slice_free(&workers[i].slice);
    return true;
}

bool conform_slices(const struct trial_device *device, int net, int count)
{
    struct trial trial;
    char what[32];
    conformance_net_make(&trial, net, ROWS);
    snprintf(what, sizeof what, "network %d of the cases", net);
    bool ok = compare(&trial, device, PLAN_TRAIN, count, 1e-4, what) &&
              compare(&trial, device, PLAN_EVAL, count, 1e-4, what);
    trial_free(&trial);
    return ok;
}

void conform_model_slices(const struct trial_device *device, const char *model,
                          struct net_shape input, int most, double tolerance)
{
    struct trial trial;
    trial_make_shipped(&trial, model, input, ROWS, 5);
    for (int count = 1; count <= most; count++) {
        ck_assert_msg(compare(&trial, device, PLAN_TRAIN, count, tolerance, model), "%s", model);
        ck_assert_msg(compare(&trial, device, PLAN_EVAL, count, tolerance, model), "%s", model);
    }
    trial_free(&trial);
}

/* SPDX-License-Identifier: MIT */
#include "tests/reference/conformance.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Shipped models, the deep one on small pictures. Among the many ReLUs of a real network some lie
 * so near to zero that single precision decides otherwise, which a few gradients feel.
 */
static const struct {
    const char *model;
    struct net_shape input;
    int rows;
    double tolerance;
} models[] = {
    {"linear", {0, 0, 0}, 4, 1e-5},   {"linear", {0, 0, 0}, 30, 1e-5},
    {"lenet", {0, 0, 0}, 3, 1e-5},    {"cifar-cnn", {0, 0, 0}, 3, 5e-3},
    {"smallnet", {0, 0, 0}, 4, 5e-3}, {"resnet18", {1, 5, 5}, 4, 5e-2},
};

const int conformance_models = (int)(sizeof models / sizeof models[0]);

void conformance_model_make(struct trial *trial, int model)
{
    trial_make_shipped(trial, models[model].model, models[model].input, models[model].rows, 5);
}

void conform_model(const struct trial_device *device, int model)
{
    struct trial trial;
    conformance_model_make(&trial, model);
    for (enum plan_mode mode = PLAN_TRAIN; mode <= PLAN_EVAL; mode++) {
        struct outcome got, expected;
        trial_run(&trial, device, mode, &got);
        trial_reference(&trial, mode, &expected);
        outcome_compare(&trial, &got, &expected, mode, models[model].tolerance,
                        models[model].model);
        outcome_free(&got);
        outcome_free(&expected);
    }
    trial_free(&trial);
}

#define CONV3(c) "{ type = \"conv\"; channels = " c "; kernel = 3; pad = 1; }"
static const char *const norm_net =
    CONV3("16") ", \"batchnorm\", \"relu\", { type = \"residual\"; layers = "
                "(" CONV3("16") ", \"batchnorm\", \"relu\", " CONV3(
                    "16") ", \"batchnorm\"); after = (\"relu\"); },"
                          "{ type = \"residual\"; layers = (" CONV3(
                              "20") ", \"batchnorm\");"
                                    "shortcut = ({ type = \"conv\"; channels = "
                                    "20; kernel = 1; }); after = (\"relu\"); },"
                                    "\"global_avgpool\", \"flatten\", { type = "
                                    "\"linear\"; outputs = 9; },"
                                    "\"batchnorm\", { type = \"linear\"; outputs "
                                    "= 4; }";
static const struct net_shape norm_input = {1, 7, 6};

/* Devices in threads that meet to add numbers up, in the order of the devices. */
#define MOST_DEVICES 8

struct barrier {
    pthread_barrier_t barrier;
    int devices;
    double *values[MOST_DEVICES];
    double sum[4096];
};

struct worker {
    struct barrier *barrier;
    const struct trial *trial;
    const struct trial_device *device;
    int rank, first, rows;
    struct outcome out;
};

static bool meet(void *context, double *values, size_t count, struct error *err)
{
    const struct worker *worker = context;
    struct barrier *barrier = worker->barrier;
    (void)err;
    ck_assert_uint_le(count, sizeof barrier->sum / sizeof barrier->sum[0]);
    barrier->values[worker->rank] = values;
    if (pthread_barrier_wait(&barrier->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        for (size_t i = 0; i < count; i++) {
            barrier->sum[i] = 0;
            for (int k = 0; k < barrier->devices; k++)
                barrier->sum[i] += barrier->values[k][i];
        }
    pthread_barrier_wait(&barrier->barrier);
    memcpy(values, barrier->sum, count * sizeof *values);
    pthread_barrier_wait(&barrier->barrier);
    return true;
}

static void *work(void *context)
{
    struct worker *worker = context;
    const struct plan_request request = {.mode = PLAN_TRAIN,
                                         .rows = worker->rows,
                                         .sync_bn = worker->barrier != NULL,
                                         .allreduce = {.sum = meet, .context = worker}};
    struct rig rig;
    rig_open(&rig, worker->trial, worker->device);
    struct plan *plan = rig_plan(&rig, &request);
    rig_run(&rig, plan, worker->trial, worker->first, worker->rows, &worker->out);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    return NULL;
}

/* Run shards of `rows` on as many devices; *joined is what all of them together made. */
static void run_shards(const struct trial *trial, const struct trial_device *list,
                       struct barrier *barrier, const int *rows, int devices,
                       struct outcome *joined)
{
    struct worker workers[MOST_DEVICES] = {0};
    pthread_t threads[MOST_DEVICES];
    int first = 0;
    for (int k = 0; k < devices; k++) {
        workers[k] = (struct worker){.barrier = barrier,
                                     .trial = trial,
                                     .device = &list[k % 2],
                                     .rank = k,
                                     .first = first,
                                     .rows = rows[k]};
        first += rows[k];
        ck_assert_int_eq(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < devices; k++)
        pthread_join(threads[k], NULL);
    *joined = workers[0].out;
    joined->logits = realloc(joined->logits, (size_t)first * (size_t)trial->net->classes * 4 + 4);
    ck_assert_ptr_nonnull(joined->logits);
    for (int k = 1, done = rows[0]; k < devices; done += rows[k++]) {
        struct outcome *out = &workers[k].out;
        joined->loss_sum += out->loss_sum;
        joined->correct += out->correct;
        for (size_t i = 0; i < trial->net->value_count; i++)
            joined->grads[i] += out->grads[i];
        memcpy(joined->logits + (size_t)done * (size_t)trial->net->classes, out->logits,
               (size_t)rows[k] * (size_t)trial->net->classes * sizeof(float));
        /* All devices of a kind hold the same running statistics. */
        if (barrier && list[0].backend == list[1].backend)
            ck_assert_mem_eq(out->after.values, joined->after.values,
                             trial->net->value_count * sizeof(float));
        outcome_free(out);
    }
}

static const struct {
    int devices, rows[MOST_DEVICES];
} splits[] = {
    {1, {11}}, {2, {6, 5}}, {3, {0, 10, 1}}, {4, {5, 0, 6, 0}}, {8, {2, 2, 2, 2, 2, 1, 0, 0}},
};

const int conformance_splits = (int)(sizeof splits / sizeof splits[0]);

void conform_synchronised(const struct trial_device *devices, int split)
{
    struct trial trial;
    struct barrier barrier = {.devices = splits[split].devices};
    struct outcome got, expected;
    trial_make(&trial, norm_net, norm_input, 4, 11, false, 3);
    pthread_barrier_init(&barrier.barrier, NULL, (unsigned)barrier.devices);
    run_shards(&trial, devices, &barrier, splits[split].rows, splits[split].devices, &got);
    trial_reference(&trial, PLAN_TRAIN, &expected);
    outcome_compare(&trial, &got, &expected, PLAN_TRAIN, 5e-5, "synchronised");
    pthread_barrier_destroy(&barrier.barrier);
    outcome_free(&got);
    outcome_free(&expected);
    trial_free(&trial);
}

/* Without BatchNorm the split does not matter either, dropout included. */
void conform_shards(const struct trial_device *devices, int split)
{
    static const char *const layers = CONV3(
        "6") ", \"relu\", { type = \"dropout\"; p = 0.3; }, { type = \"maxpool\"; kernel = 2; },"
             "\"flatten\", { type = \"linear\"; outputs = 4; }";
    struct trial trial;
    struct outcome got, expected;
    trial_make(&trial, layers, norm_input, 4, 11, false, 3);
    run_shards(&trial, devices, NULL, splits[split].rows, splits[split].devices, &got);
    trial_reference(&trial, PLAN_TRAIN, &expected);
    outcome_compare(&trial, &got, &expected, PLAN_TRAIN, 2e-5, "shards");
    outcome_free(&got);
    outcome_free(&expected);
    trial_free(&trial);
}

void conform_no_rows(const struct trial_device *device)
{
    struct trial trial;
    struct rig rig;
    struct outcome out;
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, device);
    float *grads = rig_read(&rig, ARENA_GRADS);
    for (size_t i = 0; i < rig.replica->count; i++)
        grads[i] = 1;
    rig_write(&rig, ARENA_GRADS, grads);
    free(grads);
    static const enum plan_mode modes[] = {PLAN_EVAL, PLAN_TRAIN};
    for (int m = 0; m < 2; m++) {
        struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = modes[m]});
        rig_run(&rig, plan, &trial, 0, 0, &out);
        ck_assert_double_eq(out.loss_sum, 0);
        ck_assert_int_eq(out.correct, 0);
        ck_assert_mem_eq(out.after.values, trial.weights.values,
                         trial.net->value_count * sizeof(float));
        size_t kept = 0;
        grads = rig_read(&rig, ARENA_GRADS);
        for (size_t i = 0; i < rig.replica->count; i++)
            kept += grads[i] != 0;
        free(grads);
        ck_assert_uint_eq(kept, modes[m] == PLAN_TRAIN ? 0 : rig.replica->count);
        rig.backend->plan_destroy(rig.device, plan);
        outcome_free(&out);
    }
    rig_close(&rig);
    trial_free(&trial);
}

static void expect_same(const struct trial *trial, const struct outcome *a, const struct outcome *b,
                        int rows)
{
    ck_assert_double_eq(a->loss_sum, b->loss_sum);
    ck_assert_mem_eq(a->logits, b->logits,
                     (size_t)rows * (size_t)trial->net->classes * sizeof(float));
    ck_assert_mem_eq(a->grads, b->grads, trial->net->value_count * sizeof(float));
}

/* Plans share a workspace that grows under them; a pass is deterministic. */
void conform_side_by_side(const struct trial_device *device)
{
    struct trial trial;
    struct rig rig;
    struct outcome first, again, more;
    trial_make(&trial, norm_net, norm_input, 4, 11, false, 3);
    rig_open(&rig, &trial, device);
    struct plan *small = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 2});
    rig_run(&rig, small, &trial, 3, 2, &first);
    struct plan *large = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 11});
    struct plan *eval = rig_plan(&rig, &(struct plan_request){.mode = PLAN_EVAL, .rows = 7});
    rig_run(&rig, large, &trial, 0, 11, &more);
    outcome_free(&more);
    rig_run(&rig, eval, &trial, 0, 7, &more);
    outcome_free(&more);
    rig_run(&rig, small, &trial, 3, 2, &again);
    expect_same(&trial, &first, &again, 2);
    struct plan_memory memory[2];
    rig.backend->plan_memory(small, &memory[0]);
    rig.backend->plan_memory(large, &memory[1]);
    ck_assert_uint_gt(memory[1].activations, 3 * memory[0].activations);
    ck_assert_uint_ge(memory[1].input, 11 * 42 * sizeof(float));
    rig.backend->plan_destroy(rig.device, small);
    rig.backend->plan_destroy(rig.device, large);
    rig.backend->plan_destroy(rig.device, eval);
    outcome_free(&first);
    outcome_free(&again);
    rig_close(&rig);
    trial_free(&trial);
}

/* Weights come back as they went in, and the surplus in the arenas stays zero through updates. */
void conform_arenas(const struct trial_device *device)
{
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct outcome out;
    const struct optimizer_step step = {.lr = 0.1F, .momentum = 0.9F, .weight_decay = 0.01F};
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, device);
    struct weights back;
    ck_assert(weights_create(trial.net, &back, &err));
    ck_assert(rig.backend->replica_export(rig.device, rig.replica, &back, &err));
    ck_assert_mem_eq(back.values, trial.weights.values, trial.net->value_count * sizeof(float));
    ck_assert_uint_eq(rig.replica->count % 16, 0);
    ck_assert_uint_eq(rig.replica->statistics_count % 16, 0);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    for (int i = 0; i < 3; i++) {
        rig_run(&rig, plan, &trial, 0, 5, &out);
        outcome_free(&out);
        ck_assert(rig.backend->update(rig.device, rig.replica, 0, rig.replica->count, &step, &err));
    }
    /* What the network knows of is as many numbers as the arena holds that are not zero. */
    size_t used = 0;
    float *params = rig_read(&rig, ARENA_PARAMS);
    for (size_t i = 0; i < rig.replica->count; i++)
        used += params[i] != 0;
    free(params);
    ck_assert_uint_eq(used, trial.net->trainable_count);
    rig.backend->plan_destroy(rig.device, plan);
    weights_free(&back);
    rig_close(&rig);
    trial_free(&trial);
}

/* The message, after the device's name. */
static void expect_text(const struct trial_device *device, const struct error *err,
                        const char *text)
{
    char name[16], expected[200];
    snprintf(expected, sizeof expected, "%s: %s", device_id_text(device->options.id, name), text);
    ck_assert_str_eq(err->text, expected);
}

void conform_mistakes(const struct trial_device *device)
{
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    struct batch_result result;
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, device);
    struct plan *plan = rig_plan(&rig, &(struct plan_request){.mode = PLAN_TRAIN, .rows = 5});
    struct batch batch = {.data = &trial.data, .index = trial.index, .rows = 4, .global_rows = 5};
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    expect_text(device, &err, "4 rows given to a plan for 5");
    batch.rows = 5;
    trial.index[2] = 8;
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    expect_text(device, &err, "batch: row 8 asked for of 8");
    trial.index[2] = 1;
    trial.data.labels[1] = 4;
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    expect_text(device, &err, "batch: row 1 has label 4, the network 4 classes");
    trial.data.labels[1] = 0;
    trial.data.width++;
    ck_assert(!rig.backend->plan_run(rig.device, plan, &batch, &result, &err));
    expect_text(device, &err, "batch: the data have 49 numbers a row, the network reads 42");
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
    trial_free(&trial);
}

/* Numbers of three arenas before an update of the middle of them. */
static void fill_arenas(const struct rig *rig, float *params, float *grads, float *momentum)
{
    for (size_t i = 0; i < rig->replica->count; i++) {
        params[i] = (float)(i % 7) - 3;
        grads[i] = (float)(i % 5);
        momentum[i] = (float)(i % 3);
    }
    rig_write(rig, ARENA_PARAMS, params);
    rig_write(rig, ARENA_GRADS, grads);
    rig_write(rig, ARENA_STATE, momentum);
}

/* The largest error of an update of [begin, end), of those numbers and of all others. */
static double update_error(const struct rig *rig, const struct optimizer_step *step, size_t begin,
                           size_t end)
{
    float *params = rig_read(rig, ARENA_PARAMS), *momentum = rig_read(rig, ARENA_STATE);
    double off = 0;
    for (size_t i = 0; i < rig->replica->count; i++) {
        bool in = i >= begin && i < end;
        double w = (double)(i % 7) - 3, v = (double)(i % 3);
        double g = (double)(i % 5) + (double)step->weight_decay * w;
        double moved = step->momentum == 0 ? g : (double)step->momentum * v + g;
        double kept = in && step->momentum != 0 ? moved : v;
        double now = in ? w - (double)step->lr * moved : w;
        off = fmax(off, fabs((double)params[i] - now));
        off = fmax(off, fabs((double)momentum[i] - kept));
    }
    free(params);
    free(momentum);
    return off;
}

void conform_update(const struct trial_device *device)
{
    static const struct optimizer_step steps[] = {
        {0.1F, 0, 0}, {0.1F, 0, 0.5F}, {0.1F, 0.9F, 0.25F}};
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    trial_make(&trial, "{ type = \"linear\"; outputs = 3; }", (struct net_shape){300, 20, 13}, 3, 1,
               true, 1);
    rig_open(&rig, &trial, device);
    const size_t count = rig.replica->count, begin = 8, end = count - 12;
    float *numbers = malloc(3 * count * sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        fill_arenas(&rig, numbers, numbers + count, numbers + 2 * count);
        ck_assert(rig.backend->update(rig.device, rig.replica, begin, end, &steps[k], &err));
        ck_assert_double_le(update_error(&rig, &steps[k], begin, end), 1e-6);
        ck_assert(!rig.backend->update(rig.device, rig.replica, 0, count + 4, &steps[k], &err));
    }
    free(numbers);
    rig_close(&rig);
    trial_free(&trial);
}

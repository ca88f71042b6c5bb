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
    ck_assert_uint_ge(memory[1].input,
                      11 * 42 * (device->options.type == TYPE_BF16 ? 2 : sizeof(float)));
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
    const struct optimizer_step step = {
        .rule = UPDATE_MOMENTUM, .lr = 0.1F, .momentum = 0.9F, .weight_decay = 0.01F};
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    rig_open(&rig, &trial, device);
    struct weights back;
    ck_assert(weights_create(trial.net, &back, &err));
    ck_assert(replica_export(rig.backend, rig.device, rig.replica, &back, &err));
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
    char name[DEVICE_NAME], expected[200];
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

/* Numbers of the arenas before an update: of parameter i, its gradient, and its state k. */
static double param_at(size_t i)
{
    return (double)(i % 7) - 3;
}

static double grad_at(size_t i)
{
    return (double)(i % 5) / 4;
}

static double state_at(size_t i, int k)
{
    return (double)((i + (size_t)k) % 3) / 2;
}

static void fill_arenas(const struct rig *rig, float *numbers)
{
    for (size_t i = 0; i < rig->replica->count; i++)
        numbers[i] = (float)param_at(i);
    rig_write(rig, ARENA_PARAMS, numbers);
    for (size_t i = 0; i < rig->replica->count; i++)
        numbers[i] = (float)grad_at(i);
    rig_write(rig, ARENA_GRADS, numbers);
    for (int k = 0; k < rig->replica->states; k++) {
        for (size_t i = 0; i < rig->replica->count; i++)
            numbers[i] = (float)state_at(i, k);
        rig_write(rig, (enum replica_arena)(ARENA_STATE + k), numbers);
    }
}

/* The new w and state s[] by the documentation of torch.optim, at step t. */
static double torch_update(const struct spec *o, double lr, long t, double w, double g, double *s)
{
    const double beta2 = o->beta2;
    if (o->optimizer == OPTIMIZER_ADAMW)
        w -= lr * o->weight_decay * w;
    else
        g += o->weight_decay * w;
    switch (o->optimizer) {
    case OPTIMIZER_SGD:
    case OPTIMIZER_NESTEROV:
        if (o->momentum > 0)
            s[0] = o->momentum * s[0] + g;
        if (o->optimizer == OPTIMIZER_NESTEROV)
            return w - lr * (g + o->momentum * s[0]);
        return w - lr * (o->momentum > 0 ? s[0] : g);
    case OPTIMIZER_ADAM:
    case OPTIMIZER_ADAMW:
        s[0] = o->beta1 * s[0] + (1 - o->beta1) * g;
        s[1] = beta2 * s[1] + (1 - beta2) * g * g;
        return w - lr * (s[0] / (1 - pow(o->beta1, (double)t))) /
                       (sqrt(s[1] / (1 - pow(beta2, (double)t))) + o->eps);
    case OPTIMIZER_RMSPROP:
        s[0] = beta2 * s[0] + (1 - beta2) * g * g;
        g /= sqrt(s[0]) + o->eps;
        if (o->momentum > 0)
            s[1] = o->momentum * s[1] + g;
        return w - lr * (o->momentum > 0 ? s[1] : g);
    }
    return NAN;
}

/* What torch.nn.utils.clip_grad_norm_ multiplies the gradients by; *norm is that of all. */
static double torch_clip(const struct rig *rig, const struct spec *o, double *norm)
{
    double sum = 0;
    for (size_t i = 0; i < rig->replica->count; i++)
        sum += grad_at(i) * grad_at(i);
    *norm = sqrt(sum);
    return o->clip_norm > 0 ? fmin(1, o->clip_norm / (*norm + 1e-6)) : 1;
}

/* The largest error of an update of [begin, end), of those numbers and of all others. */
static double update_error(const struct rig *rig, const struct spec *o, double lr, long t,
                           size_t begin, size_t end)
{
    float *params = rig_read(rig, ARENA_PARAMS), *state[UPDATE_STATES];
    double norm, off = 0;
    const double scale = torch_clip(rig, o, &norm);
    for (int k = 0; k < UPDATE_STATES; k++)
        state[k] = rig_read(rig, (enum replica_arena)(ARENA_STATE + k));
    for (size_t i = 0; i < rig->replica->count; i++) {
        double w = param_at(i), s[UPDATE_STATES];
        for (int k = 0; k < UPDATE_STATES; k++)
            s[k] = state_at(i, k);
        if (i >= begin && i < end)
            w = torch_update(o, lr, t, w, scale * grad_at(i), s);
        off = fmax(off, fabs((double)params[i] - w));
        for (int k = 0; k < UPDATE_STATES; k++)
            off = fmax(off, fabs((double)state[k][i] - s[k]));
    }
    free(params);
    for (int k = 0; k < UPDATE_STATES; k++)
        free(state[k]);
    return off;
}

/* Once the update is done. */
static void check_norm(const struct rig *rig, const struct spec *o)
{
    double norm;
    torch_clip(rig, o, &norm);
    if (o->clip_norm > 0)
        ck_assert_double_eq_tol((double)*rig->replica->grad_norm, norm, 1e-6 * norm);
    else
        ck_assert(isnan(*rig->replica->grad_norm));
}

void conform_update(const struct trial_device *device)
{
    static const struct {
        enum optimizer_kind optimizer;
        double momentum, weight_decay, clip;
    } cases[] = {
        {OPTIMIZER_SGD, 0, 0, 0},           {OPTIMIZER_SGD, 0, 0.5, 0},
        {OPTIMIZER_SGD, 0.9, 0.25, 0},      {OPTIMIZER_NESTEROV, 0.9, 0, 0},
        {OPTIMIZER_NESTEROV, 0.5, 0.25, 0}, {OPTIMIZER_ADAM, 0, 0, 0},
        {OPTIMIZER_ADAM, 0, 0.25, 0},       {OPTIMIZER_ADAMW, 0, 0.25, 0},
        {OPTIMIZER_RMSPROP, 0, 0, 0},       {OPTIMIZER_RMSPROP, 0, 0.25, 0},
        {OPTIMIZER_RMSPROP, 0.9, 0.25, 0},  {OPTIMIZER_SGD, 0.9, 0.25, 40},
        {OPTIMIZER_ADAM, 0, 0.25, 0.5},     {OPTIMIZER_SGD, 0, 0.5, 1e6},
    };
    const double lr = 0.125;
    const long t = 3;
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    trial_make(&trial, "{ type = \"linear\"; outputs = 3; }", (struct net_shape){300, 20, 13}, 3, 1,
               true, 1);
    rig_open(&rig, &trial, device);
    const size_t count = rig.replica->count, begin = 8, end = count - 12;
    float *numbers = malloc(count * sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const struct spec o = {.optimizer = cases[k].optimizer,
                               .momentum = cases[k].momentum,
                               .weight_decay = cases[k].weight_decay,
                               .clip_norm = cases[k].clip,
                               .beta1 = 0.875,
                               .beta2 = 0.9375,
                               .eps = 0.0625};
        const struct optimizer_step step = optimizer_step(&o, lr, t, 0);
        fill_arenas(&rig, numbers);
        ck_assert(rig.backend->update(rig.device, rig.replica, begin, end, &step, &err));
        ck_assert_double_le(update_error(&rig, &o, lr, t, begin, end), 2e-6);
        check_norm(&rig, &o);
        ck_assert(!rig.backend->update(rig.device, rig.replica, 0, count + 4, &step, &err));
    }
    free(numbers);
    rig_close(&rig);
    trial_free(&trial);
}

/* Parameters of one dimension stay as they are, others become `rest` times that. */
static void check_decay(const struct rig *rig, const struct spec *o, double rest)
{
    const struct net *net = rig->replica->net;
    const struct optimizer_step step = optimizer_step(o, 0.5, 1, 0);
    struct error err = ERROR_INIT;
    float *values = malloc(net->value_count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (size_t i = 0; i < net->value_count; i++)
        values[i] = 2;
    ck_assert(rig->backend->values_import(rig->device, rig->replica, ARENA_PARAMS, values, &err));
    ck_assert(rig->backend->update(rig->device, rig->replica, 0, rig->replica->count, &step, &err));
    ck_assert(rig->backend->values_export(rig->device, rig->replica, ARENA_PARAMS, values, &err));
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *param = &net->params[i];
        const double want = net_is_trained(param) && param->ndim > 1 ? 2 * rest : 2;
        for (size_t k = 0; k < param->count; k++)
            ck_assert_msg(fabs((double)values[param->offset + k] - want) < 1e-6, "%s[%zu]: %g",
                          param->name, k, (double)values[param->offset + k]);
    }
    free(values);
}

/* Without gradients there is the decay alone. */
void conform_no_decay(const struct trial_device *device)
{
    struct trial trial;
    struct rig rig;
    trial_make(&trial, norm_net, norm_input, 4, 5, false, 3);
    trial.spares = true;
    rig_open(&rig, &trial, device);
    check_decay(&rig, &(struct spec){.weight_decay = 0.5}, 0.75);
    check_decay(&rig,
                &(struct spec){.optimizer = OPTIMIZER_ADAMW,
                               .weight_decay = 0.25,
                               .beta1 = 0.9,
                               .beta2 = 0.99,
                               .eps = 1e-8},
                0.875);
    rig_close(&rig);
    trial_free(&trial);
}

static void update_once(const struct rig *rig, long t)
{
    const struct spec o = {.ema = 0.75};
    const struct optimizer_step step = optimizer_step(&o, 0.5, t, 0);
    struct error err = ERROR_INIT;
    ck_assert(rig->backend->update(rig->device, rig->replica, 0, rig->replica->count, &step, &err));
}

static void check_arena(const struct rig *rig, enum replica_arena arena, double mean, double steps)
{
    float *numbers = rig_read(rig, arena);
    for (size_t i = 0; i < rig->replica->count; i++)
        ck_assert_double_eq_tol((double)numbers[i],
                                param_at(i) - steps * 0.5 * grad_at(i) + mean * grad_at(i), 1e-6);
    free(numbers);
}

/* The average is the parameters after a first step, later the given share of what it was and of
 * them; then the two change places. */
void conform_average(const struct trial_device *device)
{
    struct trial trial;
    struct rig rig;
    struct error err = ERROR_INIT;
    trial_make(&trial, "{ type = \"linear\"; outputs = 3; }", (struct net_shape){300, 20, 13}, 3, 1,
               true, 1);
    rig_open(&rig, &trial, device);
    float *numbers = malloc(rig.replica->count * sizeof *numbers);
    ck_assert_ptr_nonnull(numbers);
    fill_arenas(&rig, numbers);
    free(numbers);
    update_once(&rig, 1);
    check_arena(&rig, ARENA_STATE, 0, 1);
    update_once(&rig, 2);
    check_arena(&rig, ARENA_PARAMS, 0, 2);
    check_arena(&rig, ARENA_STATE, 0.75 * 0.5, 2);
    ck_assert(rig.backend->swap(rig.device, rig.replica, 0, &err));
    check_arena(&rig, ARENA_PARAMS, 0.75 * 0.5, 2);
    check_arena(&rig, ARENA_STATE, 0, 2);
    rig_close(&rig);
    trial_free(&trial);
}

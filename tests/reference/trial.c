/* SPDX-License-Identifier: MIT */
#include "tests/reference/trial.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/model/file.h"
#include "tests/reference/refnet.h"
#include "tests/support.h"

#define SPARE_ROWS 3 /* rows of the data that no batch asks for */

static void *need(void *memory)
{
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static double uniform(const struct rng_stream *stream, size_t at, double low, double high)
{
    return low + (high - low) * rng_uniform(stream, at);
}

/* Weights as they are somewhere in the middle of training: nothing is 0 or 1. */
static void make_weights(struct trial *trial, uint64_t seed)
{
    struct error err = ERROR_INIT;
    struct rng_stream stream = rng_stream(seed, RNG_RANDOM_DATA, 1, 0, 0);
    ck_assert_msg(weights_create(trial->net, &trial->weights, &err), "%s", err.text);
    weights_init(trial->net, &trial->weights, INIT_PYTORCH, 0, seed);
    for (int i = 0; i < trial->net->param_count; i++) {
        const struct net_param *p = &trial->net->params[i];
        for (size_t k = p->offset; k < p->offset + p->count; k++) {
            if (p->role == NET_BN_WEIGHT || p->role == NET_RUNNING_VAR)
                trial->weights.values[k] = (float)uniform(&stream, k, 0.5, 1.5);
            else if (p->role == NET_BN_BIAS || p->role == NET_RUNNING_MEAN)
                trial->weights.values[k] = (float)uniform(&stream, k, -0.5, 0.5);
        }
    }
}

static void make_data(struct trial *trial, int rows, bool numbers, uint64_t seed)
{
    struct rng_stream stream = rng_stream(seed, RNG_RANDOM_DATA, 0, 0, 0);
    struct net_shape in = trial->net->input;
    const size_t all = (size_t)rows + SPARE_ROWS, count = all * net_shape_size(in);
    trial->rows = rows;
    trial->data = (struct dataset){.rows = (int)all,
                                   .channels = in.c,
                                   .height = in.h,
                                   .width = in.w,
                                   .classes = trial->net->classes,
                                   .labels = need(malloc(all))};
    if (numbers)
        trial->data.numbers = need(malloc(count * sizeof(float)));
    else
        trial->data.pixels = need(malloc(count));
    for (size_t i = 0; i < count; i++) {
        if (numbers)
            trial->data.numbers[i] = (float)rng_normal(&stream, i);
        else
            trial->data.pixels[i] = (uint8_t)rng_word(&stream, i);
    }
    trial->index = need(malloc(all * sizeof *trial->index));
    for (size_t i = 0; i < all; i++) {
        trial->data.labels[i] = (uint8_t)(i * 7 % (size_t)trial->net->classes);
        trial->index[i] = (uint32_t)(all - 1 - i);
    }
}

static void free_rows(struct trial *trial)
{
    weights_free(&trial->weights);
    free(trial->data.pixels);
    free(trial->data.numbers);
    free(trial->data.labels);
    free(trial->index);
    trial->weights = (struct weights){0};
    trial->data = (struct dataset){0};
    trial->index = NULL;
}

void trial_free(struct trial *trial)
{
    free_rows(trial);
    net_free(trial->net);
    *trial = (struct trial){0};
}

typedef void reference_function(struct refnet *ref, const struct refnet_batch *batch,
                                struct batch_result *result);

/* Number `at` of the weights is moved by `by`. */
static struct refnet *reference_pass(const struct trial *trial, reference_function *pass, size_t at,
                                     double by, struct batch_result *result)
{
    struct refnet *ref = refnet_create(trial->net, &trial->weights);
    double *input = refnet_input(trial->net, &trial->data, trial->index, trial->rows);
    uint8_t *labels = need(malloc((size_t)trial->rows + 1));
    for (int n = 0; n < trial->rows; n++)
        labels[n] = trial->data.labels[trial->index[n]];
    const struct refnet_batch batch = {.input = input,
                                       .labels = labels,
                                       .index = trial->index,
                                       .rows = trial->rows,
                                       .global_rows = trial->rows,
                                       .seed = TRIAL_SEED,
                                       .epoch = TRIAL_EPOCH,
                                       .label_smoothing = trial->label_smoothing};
    ref->values[at] += by;
    pass(ref, &batch, result);
    free(input);
    free(labels);
    return ref;
}

/* The smallest input of any ReLU, over the root mean square of that ReLU's inputs. */
static double distance_to_kinks(const struct trial *trial)
{
    struct batch_result result;
    struct refnet *ref = reference_pass(trial, refnet_train_loss, 0, 0, &result);
    double least = INFINITY;
    for (int i = 0; i < trial->net->op_count; i++) {
        const struct net_op *op = &trial->net->ops[i];
        if (op->kind != NET_RELU)
            continue;
        const double *x = ref->tensors[op->inputs[0]];
        size_t count =
            net_shape_size(trial->net->tensors[op->inputs[0]].shape) * (size_t)trial->rows;
        double square = 0, nearest = INFINITY;
        for (size_t k = 0; k < count; k++) {
            square += x[k] * x[k];
            nearest = fmin(nearest, x[k] == 0 ? INFINITY : fabs(x[k]));
        }
        least = fmin(least, nearest / sqrt(square / (double)count));
    }
    refnet_free(ref);
    return least;
}

void trial_make(struct trial *trial, const char *layers, struct net_shape input, int classes,
                int rows, bool numbers, uint64_t seed)
{
    struct error err = ERROR_INIT;
    char *folder = temporary_folder();
    char *text = format("default_input = [%d, %d, %d]; default_classes = %d; layers = ( %s );\n",
                        input.c, input.h, input.w, classes, layers);
    char *path = format("%s/net.conf", folder);
    *trial = (struct trial){0};
    put_file(folder, "net.conf", text, strlen(text));
    ck_assert_msg(net_load_default(path, &trial->net, &err), "%s", err.text);
    free(path);
    free(text);
    remove_tree(folder);
    for (int attempt = 0; attempt < 100; attempt++) {
        make_weights(trial, seed + (uint64_t)attempt);
        make_data(trial, rows, numbers, seed + (uint64_t)attempt);
        if (distance_to_kinks(trial) > 3e-6)
            return;
        free_rows(trial);
    }
    ck_abort_msg("no seed keeps the ReLUs of this network away from zero: %s", layers);
}

void trial_make_shipped(struct trial *trial, const char *model, struct net_shape input, int rows,
                        uint64_t seed)
{
    struct error err = ERROR_INIT;
    char *path = shipped_model(model);
    *trial = (struct trial){0};
    bool ok = input.c ? net_load(path, input, 10, &trial->net, &err)
                      : net_load_default(path, &trial->net, &err);
    ck_assert_msg(ok, "%s", err.text);
    free(path);
    make_weights(trial, seed);
    make_data(trial, rows, trial->net->input.h == 1, seed);
}

void outcome_free(struct outcome *outcome)
{
    free(outcome->logits);
    free(outcome->grads);
    weights_free(&outcome->after);
    *outcome = (struct outcome){0};
}

void outcome_make(struct outcome *out, const struct trial *trial, int rows)
{
    struct error err = ERROR_INIT;
    *out = (struct outcome){0};
    out->logits = need(calloc((size_t)rows * (size_t)trial->net->classes + 1, sizeof(float)));
    out->grads = need(calloc(trial->net->value_count, sizeof(float)));
    ck_assert_msg(weights_create(trial->net, &out->after, &err), "%s", err.text);
}

void rig_open(struct rig *rig, const struct trial *trial, const struct trial_device *device)
{
    struct error err = ERROR_INIT;
    *rig = (struct rig){.backend = device->backend};
    ck_assert_msg(rig->backend->open(&device->options, &rig->device, &err), "%s", err.text);
    if (device->prepare)
        device->prepare(rig->device);
    const struct replica_request all = {.states = UPDATE_STATES, .spares = trial->spares};
    ck_assert_msg(rig->backend->replica_create(rig->device, trial->net, &all, &rig->replica, &err),
                  "%s", err.text);
    ck_assert_msg(replica_import(rig->backend, rig->device, rig->replica, &trial->weights, &err),
                  "%s", err.text);
}

void rig_close(struct rig *rig)
{
    rig->backend->replica_destroy(rig->device, rig->replica);
    rig->backend->close(rig->device);
}

float *rig_read(const struct rig *rig, enum replica_arena arena)
{
    struct error err = ERROR_INIT;
    size_t count;
    const float *from = replica_arena(rig->replica, arena, &count);
    float *to = need(calloc(count + 1, sizeof *to));
    if (rig->replica->host_accessible)
        memcpy(to, from, count * sizeof *to);
    else
        ck_assert_msg(
            rig->backend->arena_read(rig->device, rig->replica, arena, 0, count, to, &err), "%s",
            err.text);
    return to;
}

void rig_write(const struct rig *rig, enum replica_arena arena, const float *values)
{
    struct error err = ERROR_INIT;
    size_t count;
    float *to = replica_arena(rig->replica, arena, &count);
    if (rig->replica->host_accessible)
        memcpy(to, values, count * sizeof *to);
    else
        ck_assert_msg(
            rig->backend->arena_write(rig->device, rig->replica, arena, 0, count, values, &err),
            "%s", err.text);
}

struct plan *rig_plan(struct rig *rig, const struct plan_request *request)
{
    struct error err = ERROR_INIT;
    struct plan *plan = NULL;
    ck_assert_msg(rig->backend->plan_create(rig->device, rig->replica, request, &plan, &err), "%s",
                  err.text);
    return plan;
}

void rig_run(struct rig *rig, struct plan *plan, const struct trial *trial, int first, int rows,
             struct outcome *out)
{
    struct error err = ERROR_INIT;
    struct batch_result result;
    struct batch batch = {.data = &trial->data,
                          .index = trial->index,
                          .rows = trial->rows,
                          .global_rows = trial->rows,
                          .seed = TRIAL_SEED,
                          .epoch = TRIAL_EPOCH};
    const struct batch global = batch;
    batch.index += first;
    batch.rows = rows;
    batch.global = rig->gathers_rows ? &global : NULL;
    outcome_make(out, trial, rig->gathers_rows ? trial->rows : rows);
    bool ok =
        rig->backend->plan_run(rig->device, plan, &batch, &result, &err) &&
        rig->backend->plan_logits(rig->device, plan, out->logits, &err) &&
        rig->backend->values_export(rig->device, rig->replica, ARENA_GRADS, out->grads, &err) &&
        replica_export(rig->backend, rig->device, rig->replica, &out->after, &err);
    ck_assert_msg(ok, "%s", err.text);
    out->loss_sum = result.loss_sum;
    out->correct = result.correct;
}

void trial_run(const struct trial *trial, const struct trial_device *device, enum plan_mode mode,
               struct outcome *out)
{
    struct rig rig;
    rig_open(&rig, trial, device);
    const struct plan_request request = {
        .mode = mode, .rows = trial->rows, .label_smoothing = trial->label_smoothing};
    struct plan *plan = rig_plan(&rig, &request);
    rig_run(&rig, plan, trial, 0, trial->rows, out);
    rig.backend->plan_destroy(rig.device, plan);
    rig_close(&rig);
}

void trial_reference(const struct trial *trial, enum plan_mode mode, struct outcome *out)
{
    struct batch_result result;
    struct refnet *ref =
        reference_pass(trial, mode == PLAN_TRAIN ? refnet_train : refnet_eval, 0, 0, &result);
    const double *logits = refnet_logits(ref);
    outcome_make(out, trial, trial->rows);
    out->loss_sum = result.loss_sum;
    out->correct = result.correct;
    for (size_t i = 0; i < (size_t)trial->rows * (size_t)trial->net->classes; i++)
        out->logits[i] = (float)logits[i];
    for (size_t i = 0; i < trial->net->value_count; i++) {
        out->grads[i] = mode == PLAN_TRAIN ? (float)ref->grads[i] : 0;
        out->after.values[i] = (float)ref->values[i];
    }
    refnet_free(ref);
}

double trial_loss_moved(const struct trial *trial, size_t at, double by)
{
    struct batch_result result;
    refnet_free(reference_pass(trial, refnet_train_loss, at, by, &result));
    return result.loss_sum / trial->rows;
}

static double root_mean_square(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * (double)values[i];
    return sqrt(sum / (double)count);
}

static void compare_numbers(const float *got, const float *expected, size_t count, double least,
                            double tolerance, const char *what, const char *name)
{
    double sum = 0, scale = fmax(root_mean_square(expected, count), least);
    for (size_t i = 0; i < count; i++) {
        double difference = (double)got[i] - (double)expected[i];
        sum += difference * difference;
    }
    double off = sqrt(sum / (double)count) / scale;
    /* A NaN anywhere makes this one, and fails. */
    ck_assert_msg(off <= tolerance, "%s: %s is off by %.3g of its size, allowed %.3g", what, name,
                  off, tolerance);
}

void outcome_compare(const struct trial *trial, const struct outcome *got,
                     const struct outcome *expected, enum plan_mode mode, double tolerance,
                     const char *what)
{
    const struct net *net = trial->net;
    /* Rounding errors of a gradient that is (nearly) zero have the size of the others'. */
    double least = 0.3 * root_mean_square(expected->grads, net->value_count) + 1e-30;
    compare_numbers(got->logits, expected->logits, (size_t)trial->rows * (size_t)net->classes,
                    1e-30, tolerance, what, "logits");
    ck_assert_msg(fabs(got->loss_sum - expected->loss_sum) <=
                      tolerance * (fabs(expected->loss_sum) + 1e-3),
                  "%s: loss %.9g, expected %.9g", what, got->loss_sum, expected->loss_sum);
    /* Near ties may fall the other way where numbers are rough. */
    ck_assert_msg(labs(got->correct - expected->correct) <= (long)(4 * tolerance * trial->rows),
                  "%s: %ld correct, expected %ld", what, got->correct, expected->correct);
    for (int i = 0; i < net->param_count; i++) {
        const struct net_param *p = &net->params[i];
        if (mode == PLAN_TRAIN && net_is_trained(p))
            compare_numbers(got->grads + p->offset, expected->grads + p->offset, p->count, least,
                            tolerance, what, p->name);
        compare_numbers(got->after.values + p->offset, expected->after.values + p->offset, p->count,
                        1e-3, tolerance, what, p->name);
    }
}

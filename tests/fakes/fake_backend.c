/* SPDX-License-Identifier: MIT */
#include "tests/fakes/fake_backend.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/backends/registry.h"

struct fake fake;

static _Thread_local double fake_now;

double fake_clock(void)
{
    return fake_now;
}

struct device {
    int index;
    pthread_t thread;
    long passes;
};

struct plan {
    struct plan_request request;
    struct replica *replica;
    float *logits;
    uint8_t *predicted;
    bool noted;
};

void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.device = fake.slow_device = -1;
}

static void check_use(bool correct)
{
    if (!correct)
        atomic_fetch_add(&fake.misuse, 1);
}

static void check_thread(const struct device *device)
{
    check_use(pthread_equal(device->thread, pthread_self()));
}

static bool fake_enumerate(struct device_info *list, int capacity, int *count, char *why,
                           size_t why_size, struct error *err)
{
    (void)err;
    (void)why_size;
    why[0] = '\0';
    *count = capacity > 0;
    if (*count)
        list[0] = (struct device_info){.name = "pretended", .cores = 1, .available = true};
    return true;
}

static bool fake_open(const struct device_options *options, struct device **out, struct error *err)
{
    if (fake.fails_to_open && fake.device == options->id.index)
        return error_set(err, ERROR_FAILED, "the device is on fire");
    *out = calloc(1, sizeof **out);
    if (!*out)
        return error_memory(err, "device");
    (*out)->index = options->id.index;
    (*out)->thread = pthread_self();
    check_use(options->threads >= 1);
    atomic_fetch_add(&fake.opened, 1);
    return true;
}

static void fake_close(struct device *device)
{
    check_thread(device);
    free(device);
    atomic_fetch_add(&fake.closed, 1);
}

static size_t padded(size_t count)
{
    return (count + 15) / 16 * 16;
}

/* The arena: the bias, whose gradient is complete first, then the weight. */
static size_t place(const struct net *net, int param)
{
    return param == 1 ? 0 : padded(net->params[1].count);
}

static bool replica_create(struct device *device, const struct net *net,
                           const struct replica_request *request, struct replica **out,
                           struct error *err)
{
    check_thread(device);
    if (net->param_count != 2 || net->params[0].ndim != 2)
        return error_set(err, ERROR_FAILED, "can only do one linear layer");
    struct replica *replica = calloc(1, sizeof *replica);
    size_t count = padded(net->params[0].count) + padded(net->params[1].count);
    if (replica) {
        *replica = (struct replica){
            .net = net, .count = count, .states = request->states, .host_accessible = true};
        replica->params = calloc(count, sizeof(float));
        replica->grads = calloc(count, sizeof(float));
        replica->state[0] = calloc(count, sizeof(float));
    }
    if (!replica || !replica->params || !replica->grads || !replica->state[0])
        return error_memory(err, "replica");
    *out = replica;
    return true;
}

static void replica_destroy(struct device *device, struct replica *replica)
{
    check_thread(device);
    free(replica->params);
    free(replica->grads);
    free(replica->state[0]);
    free(replica);
}

static bool values_export(struct device *device, const struct replica *replica,
                          enum replica_arena arena, float *values, struct error *err)
{
    const struct net *net = replica->net;
    size_t count;
    const float *numbers = replica_arena(replica, arena, &count);
    (void)err;
    check_thread(device);
    for (int i = 0; i < 2 && arena != ARENA_STATISTICS; i++)
        memcpy(values + net->params[i].offset, numbers + place(net, i),
               net->params[i].count * sizeof(float));
    return true;
}

static bool values_import(struct device *device, struct replica *replica, enum replica_arena arena,
                          const float *values, struct error *err)
{
    const struct net *net = replica->net;
    size_t count;
    float *numbers = replica_arena(replica, arena, &count);
    (void)err;
    check_thread(device);
    for (int i = 0; i < 2 && arena != ARENA_STATISTICS; i++)
        memcpy(numbers + place(net, i), values + net->params[i].offset,
               net->params[i].count * sizeof(float));
    return true;
}

static void count_plan(void)
{
    int now = atomic_fetch_add(&fake.plans, 1) + 1, most = atomic_load(&fake.most_plans);
    while (now > most && !atomic_compare_exchange_weak(&fake.most_plans, &most, now))
        ;
}

static bool plan_create(struct device *device, struct replica *replica,
                        const struct plan_request *request, struct plan **out, struct error *err)
{
    check_thread(device);
    struct plan *plan = calloc(1, sizeof *plan);
    size_t logits = (size_t)request->rows * (size_t)replica->net->classes;
    if (plan)
        *plan = (struct plan){.request = *request,
                              .replica = replica,
                              .predicted = request->predictions ? malloc(logits + 1) : NULL,
                              .logits = malloc((logits + 1) * sizeof(float))};
    if (!plan || !plan->logits)
        return error_memory(err, "plan");
    *out = plan;
    count_plan();
    return true;
}

static void plan_destroy(struct device *device, struct plan *plan)
{
    check_thread(device);
    free(plan->predicted);
    free(plan->logits);
    free(plan);
    atomic_fetch_sub(&fake.plans, 1);
}

static void plan_memory(const struct plan *plan, struct plan_memory *out)
{
    *out = (struct plan_memory){.activations = 1000 * (size_t)plan->request.rows};
}

static bool faults(struct device *device, struct plan *plan, const struct batch *batch,
                   struct batch_result *result, struct error *err)
{
    bool training = plan->request.mode == PLAN_TRAIN;
    device->passes += training;
    if (device->index == fake.slow_device)
        usleep(fake.slow_us);
    if (training && device->index < (int)(sizeof fake.row_s / sizeof *fake.row_s))
        fake_now += fake.row_s[device->index] *
                    (double)(fake.competing ? batch->global_rows : plan->request.rows);
    if (device->index != fake.device)
        return true;
    if (fake.fails_in_evaluation && !training)
        return error_set(err, ERROR_FAILED, "evaluation hurts");
    if (!training || device->passes != fake.pass)
        return true;
    plan->noted = fake.note != NULL;
    if (fake.fails)
        return error_set(err, ERROR_FAILED, "the library said no");
    if (fake.gives_nan)
        result->loss_sum = NAN;
    if (fake.hangs) {
        atomic_fetch_add(&fake.hanging, 1);
        while (!atomic_load(&fake.go_on))
            usleep(1000);
    }
    return true;
}

static const float *row_numbers(const struct dataset *data, uint32_t row, float *buffer, int inputs)
{
    if (data->numbers)
        return data->numbers + (size_t)row * (size_t)inputs;
    for (int i = 0; i < inputs; i++)
        buffer[i] = (float)data->pixels[(size_t)row * (size_t)inputs + (size_t)i] / 255;
    return buffer;
}

/* Turns logits into the gradient (p - y) / global_rows and returns the row's loss. */
static double softmax_loss(float *logits, int classes, int label, long global_rows)
{
    double sum = 0, largest = logits[0];
    for (int c = 1; c < classes; c++)
        largest = fmax(largest, logits[c]);
    for (int c = 0; c < classes; c++)
        sum += exp(logits[c] - largest);
    double loss = log(sum) + largest - logits[label];
    for (int c = 0; c < classes; c++)
        logits[c] = (float)((exp(logits[c] - largest) / sum - (c == label)) / (double)global_rows);
    return loss;
}

static void run_row(const struct plan *plan, const struct batch *batch, int i,
                    struct batch_result *result)
{
    struct replica *replica = plan->replica;
    const struct net *net = replica->net;
    const struct dataset *data = batch->data;
    int classes = net->classes, inputs = net->params[0].dims[1], best = 0;
    const float *bias = replica->params + place(net, 1), *weight = replica->params + place(net, 0);
    float buffer[4096], *logits = plan->logits + (size_t)i * (size_t)classes;
    const float *x = row_numbers(data, batch->index[i], buffer, inputs);
    for (int c = 0; c < classes; c++) {
        logits[c] = bias[c];
        for (int j = 0; j < inputs; j++)
            logits[c] += weight[c * inputs + j] * x[j];
        best = logits[c] > logits[best] ? c : best;
    }
    int label = data->labels[batch->index[i]];
    result->correct += best == label;
    if (plan->predicted)
        plan->predicted[i] = (uint8_t)best;
    result->loss_sum += softmax_loss(logits, classes, label, batch->global_rows);
    if (plan->request.mode == PLAN_EVAL)
        return;
    for (int c = 0; c < classes; c++) {
        replica->grads[place(net, 1) + (size_t)c] += logits[c];
        for (int j = 0; j < inputs; j++)
            replica->grads[place(net, 0) + (size_t)(c * inputs + j)] += logits[c] * x[j];
    }
}

/* There is no BatchNorm here, but its all-reduce can be tried: rows must add up to the batch. */
static bool try_allreduce(const struct plan *plan, const struct batch *batch, struct error *err)
{
    double rows = batch->rows;
    const struct device_allreduce *allreduce = &plan->request.allreduce;
    if (!plan->request.sync_bn)
        return true;
    if (!allreduce->sum(allreduce->context, &rows, 1, err))
        return false;
    check_use(rows == (double)batch->global_rows);
    return true;
}

static bool plan_run(struct device *device, struct plan *plan, const struct batch *batch,
                     struct batch_result *result, struct error *err)
{
    struct replica *replica = plan->replica;
    bool training = plan->request.mode == PLAN_TRAIN;
    check_thread(device);
    check_use(batch->rows == plan->request.rows);
    *result = (struct batch_result){.predicted = plan->predicted};
    if (training)
        memset(replica->grads, 0, replica->count * sizeof(float));
    if (!try_allreduce(plan, batch, err))
        return false;
    for (int i = 0; i < batch->rows; i++) {
        run_row(plan, batch, i, result);
        if (batch->index[i] < FAKE_ROWS)
            atomic_fetch_add(
                training ? &fake.trained[batch->index[i]] : &fake.evaluated[batch->index[i]], 1);
    }
    return faults(device, plan, batch, result, err);
}

static const char *plan_note(const struct plan *plan)
{
    return plan->noted ? fake.note : "";
}

static bool plan_logits(struct device *device, struct plan *plan, float *logits, struct error *err)
{
    (void)err;
    check_thread(device);
    memcpy(logits, plan->logits,
           (size_t)plan->request.rows * (size_t)plan->replica->net->classes * sizeof(float));
    return true;
}

static bool update(struct device *device, struct replica *replica, size_t begin, size_t end,
                   const struct optimizer_step *step, struct error *err)
{
    (void)err;
    check_thread(device);
    for (size_t i = begin; i < end; i++) {
        float *w = &replica->params[i];
        *w = step->rule == UPDATE_SGD
                 ? update_sgd(*w, replica->grads[i], NULL, NULL, step)
                 : update_momentum(*w, replica->grads[i], &replica->state[0][i], NULL, step);
    }
    return true;
}

static bool computes_in(enum number_type type, const char **why)
{
    if (why)
        *why = "not in this test";
    return type == TYPE_F32;
}

static const struct backend backend = {
    .kind = DEVICE_CPU,
    .computes_in = computes_in,
    .enumerate = fake_enumerate,
    .open = fake_open,
    .close = fake_close,
    .replica_create = replica_create,
    .replica_destroy = replica_destroy,
    .values_export = values_export,
    .values_import = values_import,
    .plan_create = plan_create,
    .plan_destroy = plan_destroy,
    .plan_memory = plan_memory,
    .plan_run = plan_run,
    .plan_note = plan_note,
    .plan_logits = plan_logits,
    .update = update,
};

const struct backend *backend_find(enum device_kind kind, const char **why)
{
    *why = "there are only CPU devices in this test";
    return kind == DEVICE_CPU ? &backend : NULL;
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/lanes/run.h"

#include <omp.h>
#include <string.h>

#include "base/clock.h"
#include "base/rng.h"
#include "engine/device/cpu/lanes/finish.h"
#include "engine/device/cpu/lanes/pack.h"
#include "engine/device/cpu/layers/input.h"
#include "engine/device/cpu/layers/loss.h"
#include "engine/device/plan/batch_check.h"

/* What a thread works with while one group passes. */
struct pass {
    const struct lanes_net *net;
    const struct batch *batch;
    uint8_t *predicted;  /* all rows'; or NULL */
    float *memory;       /* the thread's */
    const float *packed; /* weights, all threads' */
    int first, rows;     /* of the group, in the batch; the other lanes repeat the last row */
    long correct;
    double *spent, since; /* for a profile; or NULL */
};

/* What was done since the last call belongs to `step`. */
static void note_time(struct pass *p, int step)
{
    if (!p->spent)
        return;
    const double now = clock_seconds();
    p->spent[step] += now - p->since;
    p->since = now;
}

/* What was done since the last call was to wait for other threads. */
static void forget_time(struct pass *p)
{
    if (p->spent)
        p->since = clock_seconds();
}

static float *value(const struct pass *p, int v)
{
    return p->memory + p->net->values[v].at;
}

static float *gradient(const struct pass *p, int v)
{
    return p->memory + p->net->values[v].gradient;
}

static float *sums(const struct pass *p, size_t vectors)
{
    return p->memory + p->net->sums_at + vectors * (size_t)p->net->kernels->lanes;
}

static float *scratch(const struct pass *p)
{
    return p->memory + p->net->scratch_at;
}

/* Which row of the data a lane holds. */
static uint32_t row_of(const struct pass *p, int lane)
{
    return p->batch->index[p->first + (lane < p->rows ? lane : p->rows - 1)];
}

/* The picture of a row, changed, in memory of the thread's. */
static const uint8_t *change_picture(const struct pass *p, int lane, const uint8_t *from)
{
    const struct net_shape shape = p->net->net->input;
    const struct augment_change change = input_change(p->batch, row_of(p, lane));
    uint8_t *to = (uint8_t *)(p->memory + p->net->pictures) + (size_t)lane * p->net->picture;
    uint8_t *at = to;
    for (int c = 0; c < shape.c; c++, from += shape.h * shape.w)
        for (int h = 0; h < shape.h; h++)
            for (int w = 0; w < shape.w; w++) {
                const int source = augment_source(change, h, w, shape.h, shape.w);
                *at++ = source < 0 ? 0 : from[source];
            }
    return to;
}

static void load_rows(const struct pass *p)
{
    const struct lanes_net *net = p->net;
    const struct dataset *data = p->batch->data;
    struct lanes_rows rows = {.scale = net->scale, .shift = net->shift};
    for (int lane = 0; lane < net->kernels->lanes; lane++) {
        const size_t at = (size_t)row_of(p, lane) * net->picture;
        if (!data->pixels)
            rows.floats[lane] = data->numbers + at;
        else if (net->training && p->batch->augment != AUGMENT_NONE)
            rows.bytes[lane] = change_picture(p, lane, data->pixels + at);
        else
            rows.bytes[lane] = data->pixels + at;
    }
    net->kernels->load(&net->values[0].image, &rows, value(p, 0));
}

/* What each number is multiplied by: 0 or 1/(1-p). See dropout.c. */
static void draw_factors(const struct pass *p, const struct lanes_op *op, float *factors)
{
    const struct lanes_image *image = &p->net->values[op->x].image;
    const double drop = p->net->net->ops[op->op].p;
    const uint32_t threshold = rng_threshold(drop);
    const float kept = (float)(1 / (1 - drop));
    const int lanes = p->net->kernels->lanes;
    memset(factors, 0, (size_t)(lanes_size(image) * lanes) * sizeof *factors);
    for (int lane = 0; lane < lanes; lane++) {
        const struct rng_stream stream = rng_stream(p->batch->seed, RNG_DROPOUT, (uint32_t)op->op,
                                                    row_of(p, lane), p->batch->epoch);
        uint32_t words[4], element = 0;
        for (int c = 0; c < image->c; c++)
            for (int h = 0; h < image->h; h++) {
                float *at =
                    factors + lane +
                    (c * lanes_plane(image) + lanes_first(image) + h * lanes_row(image)) * lanes;
                for (int w = 0; w < image->w; w++, element++, at += lanes) {
                    if (element % 4 == 0)
                        rng_block(&stream, element / 4, words);
                    *at = words[element % 4] < threshold ? 0 : kept;
                }
            }
    }
}

static void go_forward(const struct pass *p, const struct lanes_op *op)
{
    const struct lanes_kernels *k = p->net->kernels;
    const struct lanes_image *image = &p->net->values[op->x].image;
    const float *x = value(p, op->x);
    float *y = value(p, op->y);
    switch (op->kind) {
    case LANES_CONV:
        k->conv(&op->conv, x, p->packed + op->packed, op->bias, y, scratch(p));
        break;
    case LANES_LINEAR:
        k->linear(op->in, op->out, op->act, x, p->packed + op->packed, op->bias, y);
        break;
    case LANES_POOL:
        k->pool(&op->pool, x, y);
        break;
    case LANES_DROPOUT:
        draw_factors(p, op, p->memory + op->factors);
        k->mask(x, p->memory + op->factors, (int)lanes_size(image), y);
        break;
    case LANES_ACTIVATION:
        k->activate(op->act, image, x, y);
        break;
    }
}

/* Logits to rows, losses, gradients of the logits back to lanes. */
static void lose(struct pass *p)
{
    const struct lanes_net *net = p->net;
    const int classes = net->net->classes;
    const double scale = 1 / (double)p->batch->global_rows;
    float *logits = (float *)net->logits->data + (size_t)p->first * net->logits_row;
    float *gradients = net->training ? p->memory + net->logit_gradients : NULL;
    net->kernels->to_rows(value(p, net->output), classes, logits, (ptrdiff_t)net->logits_row);
    for (int n = 0; n < p->rows; n++, logits += net->logits_row) {
        const int label = p->batch->data->labels[row_of(p, n)];
        float *row = gradients ? gradients + (size_t)n * net->logits_row : NULL;
        ((double *)net->losses->data)[p->first + n] =
            loss_of_row(logits, classes, label, net->smoothing, scale, row);
        const int guess = loss_guess(logits, classes);
        p->correct += guess == label;
        if (p->predicted)
            p->predicted[p->first + n] = (uint8_t)guess;
    }
    if (!gradients)
        return;
    memset(gradients + (size_t)p->rows * net->logits_row, 0,
           (size_t)(net->kernels->lanes - p->rows) * net->logits_row * sizeof *gradients);
    net->kernels->from_rows(gradients, (ptrdiff_t)net->logits_row, classes,
                            gradient(p, net->output));
}

static void conv_back(struct pass *p, const struct lanes_op *op)
{
    const struct lanes_kernels *k = p->net->kernels;
    float *dy = gradient(p, op->y);
    if (!op->through && (op->act != LANES_NONE || op->bias))
        k->activate_back(op->act, &op->conv.y, value(p, op->y), dy,
                         op->bias ? sums(p, op->bias_sums) : NULL);
    k->conv_weights(&op->conv, value(p, op->x), dy, sums(p, op->sums), scratch(p));
    note_time(p, op->steps[1]);
    if (op->data)
        k->conv_data(&op->conv, dy, p->packed + op->packed_data, gradient(p, op->x), scratch(p));
    note_time(p, op->steps[2]);
}

static void linear_back(struct pass *p, const struct lanes_op *op)
{
    const struct lanes_kernels *k = p->net->kernels;
    const size_t first = (size_t)p->first;
    float *dy = gradient(p, op->y);
    if (op->act != LANES_NONE)
        k->activate_back(op->act, &p->net->values[op->y].image, value(p, op->y), dy, NULL);
    k->to_rows(value(p, op->x), op->in, (float *)op->x_rows->data + first * op->x_stride,
               (ptrdiff_t)op->x_stride);
    k->to_rows(dy, op->out, (float *)op->dy_rows->data + first * op->y_stride,
               (ptrdiff_t)op->y_stride);
    note_time(p, op->steps[1]);
    if (op->data)
        k->linear_data(op->in, op->out, dy, op->weights, gradient(p, op->x));
    note_time(p, op->steps[2]);
}

static void go_back(struct pass *p, const struct lanes_op *op)
{
    const struct lanes_kernels *k = p->net->kernels;
    const struct lanes_image *image = &p->net->values[op->x].image;
    const size_t size = (size_t)lanes_size(image);
    const float *dy = gradient(p, op->y);
    float *dx = gradient(p, op->x);
    if (!op->data && op->kind != LANES_CONV && op->kind != LANES_LINEAR)
        return;
    switch (op->kind) {
    case LANES_CONV:
        conv_back(p, op);
        return;
    case LANES_LINEAR:
        linear_back(p, op);
        return;
    case LANES_POOL:
        k->pool_back(&op->pool, value(p, op->x), value(p, op->y), dy, dx, op->act_before,
                     op->before && op->before->bias ? sums(p, op->before->bias_sums) : NULL);
        break;
    case LANES_DROPOUT:
        k->mask(dy, p->memory + op->factors, (int)size, dx);
        break;
    case LANES_ACTIVATION:
        memcpy(dx, dy, size * (size_t)k->lanes * sizeof *dx);
        k->activate_back(op->act, image, value(p, op->y), dx, NULL);
        break;
    }
    note_time(p, op->steps[1]);
}

static void pass_group(struct pass *p)
{
    const struct lanes_net *net = p->net;
    load_rows(p);
    note_time(p, 0);
    for (int i = 0; i < net->op_count; i++) {
        go_forward(p, &net->ops[i]);
        note_time(p, net->ops[i].steps[0]);
    }
    lose(p);
    note_time(p, net->loss_step);
    for (int i = net->op_count; i-- > 0;)
        if (net->ops[i].backward)
            go_back(p, &net->ops[i]);
}

static void pack_weights(struct pass *p, float *packed, int part, int parts)
{
    const struct lanes_net *net = p->net;
    for (int i = 0; i < net->op_count; i++) {
        const struct lanes_op *op = &net->ops[i];
        if (op->kind == LANES_LINEAR)
            lanes_pack_linear(net->kernels, op->out, op->in, op->weights, packed + op->packed, part,
                              parts);
        if (op->kind == LANES_CONV && i % parts == part) {
            lanes_pack_conv(net->kernels, &op->conv, op->weights, packed + op->packed, scratch(p));
            if (op->backward && op->data)
                lanes_pack_data(net->kernels, &op->conv, op->weights, packed + op->packed_data,
                                scratch(p));
        }
        note_time(p, op->steps[0]);
    }
}

static void finish(struct pass *p, int part, int parts)
{
    const struct lanes_net *net = p->net;
    forget_time(p);
    for (int i = 0; i < net->op_count; i++) {
        const struct lanes_op *op = &net->ops[i];
        if (!op->backward || (op->kind != LANES_LINEAR && op->kind != LANES_CONV))
            continue;
        lanes_finish(net, op, part, parts);
        note_time(p, op->steps[1]);
    }
}

/* A thread's share of the groups; threads that have none still help with the rest. */
static void pass_share(struct pass *p, int part, int parts)
{
    const struct lanes_net *net = p->net;
    const int sharing = parts < net->groups ? parts : net->groups, lanes = net->kernels->lanes;
    if (part >= sharing)
        return;
    if (net->training)
        memset(sums(p, 0), 0, net->sums * (size_t)lanes * sizeof(float));
    for (int g = lanes_share(net->groups, part, sharing);
         g < lanes_share(net->groups, part + 1, sharing); g++) {
        p->first = g * lanes;
        p->rows = net->rows - p->first < lanes ? net->rows - p->first : lanes;
        pass_group(p);
    }
    if (net->training)
        net->kernels->add_lanes(sums(p, 0), (int)net->sums,
                                (float *)net->partial->data + (size_t)part * net->sums);
}

/* Waking others for a single group takes longer than what they could do. */
static bool is_alone(const struct lanes_net *net)
{
    return net->groups < 2;
}

/*
 * The mean over the threads. plan_core_run gives the time of the whole pass to the first step; what
 * is not the input's is taken out of it, so that where threads begin and wait for one another
 * remains for the rest of the step.
 */
static void add_times(struct lanes_net *net, const struct plan_core *core, double pass)
{
    struct plan_time *times = core->times;
    const int threads = is_alone(net) ? 1 : net->threads;
    times[0].seconds -= pass;
    for (int step = 0; step < core->step_count; step++)
        for (int t = 0; t < threads; t++) {
            double *spent = &net->spent[(size_t)t * (size_t)net->step_count + (size_t)step];
            times[step].seconds += *spent / threads;
            *spent = 0;
        }
}

bool lanes_run(struct plan *plan, void *layer, struct error *err)
{
    struct lanes_net *net = layer;
    const struct batch *batch = plan->core.batch;
    const double begin = net->spent ? clock_seconds() : 0;
    long correct = 0;
    if (!batch_check_rows(batch, net->net, err) || !batch_check_labels(batch, net->net, err))
        return false;
#pragma omp parallel reduction(+ : correct) if (!is_alone(net))
    {
        const int part = omp_get_thread_num(), parts = omp_get_num_threads();
        struct pass p = {.net = net,
                         .batch = batch,
                         .predicted = plan->core.predicted,
                         .memory = (float *)net->threads_memory->data + (size_t)part * net->memory,
                         .packed = net->packed_weights->data,
                         .spent = net->spent ? net->spent + (size_t)part * (size_t)net->step_count
                                             : NULL,
                         .since = net->spent ? clock_seconds() : 0};
        pack_weights(&p, net->packed_weights->data, part, parts);
#pragma omp barrier
        forget_time(&p);
        pass_share(&p, part, parts);
        correct += p.correct;
#pragma omp barrier
        if (net->training)
            finish(&p, part, parts);
    }
    if (net->spent)
        add_times(net, &plan->core, clock_seconds() - begin);
    plan->core.result =
        (struct batch_result){.correct = correct, .predicted = plan->core.predicted};
    for (int n = 0; n < net->rows; n++) /* in order, so that the sum does not depend on the team */
        plan->core.result.loss_sum += ((const double *)net->losses->data)[n];
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "tests/reference/refnet.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/refnet_ops.h"

static void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

struct refnet *refnet_create(const struct net *net, const struct weights *weights)
{
    struct refnet *ref = zeros(1, sizeof *ref);
    ref->net = net;
    ref->values = zeros(net->value_count, sizeof *ref->values);
    ref->grads = zeros(net->value_count, sizeof *ref->grads);
    ref->tensors = zeros((size_t)net->tensor_count, sizeof *ref->tensors);
    ref->tensor_grads = zeros((size_t)net->tensor_count, sizeof *ref->tensor_grads);
    for (size_t i = 0; weights && i < net->value_count; i++)
        ref->values[i] = (double)weights->values[i];
    return ref;
}

static void free_tensors(struct refnet *ref)
{
    for (int i = 0; i < ref->net->tensor_count; i++) {
        free(ref->tensors[i]);
        free(ref->tensor_grads[i]);
    }
}

void refnet_free(struct refnet *ref)
{
    if (!ref)
        return;
    free_tensors(ref);
    free(ref->tensors);
    free(ref->tensor_grads);
    free(ref->values);
    free(ref->grads);
    free(ref);
}

/* Fresh tensors for these rows, zero but for the input. */
static void start(struct refnet *ref, const struct refnet_batch *batch)
{
    const struct net *net = ref->net;
    free_tensors(ref);
    ref->rows = batch->rows;
    for (int i = 0; i < net->tensor_count; i++) {
        size_t count = (size_t)batch->rows * net_shape_size(net->tensors[i].shape);
        ref->tensors[i] = zeros(count, sizeof(double));
        ref->tensor_grads[i] = zeros(count, sizeof(double));
        if (i == 0 && count > 0)
            memcpy(ref->tensors[0], batch->input, count * sizeof(double));
    }
}

static double *param(const struct net *net, double *array, int index)
{
    return index == NET_NONE ? NULL : array + net->params[index].offset;
}

static struct ref_op view(struct refnet *ref, const struct refnet_batch *batch, int index,
                          bool training)
{
    const struct net *net = ref->net;
    const struct net_op *op = &net->ops[index];
    bool two = op->inputs[1] != NET_NONE;
    return (struct ref_op){
        .op = op,
        .index = index,
        .rows = batch->rows,
        .training = training,
        .in = net->tensors[op->inputs[0]].shape,
        .out = net->tensors[op->output].shape,
        .x = ref->tensors[op->inputs[0]],
        .x2 = two ? ref->tensors[op->inputs[1]] : NULL,
        .y = ref->tensors[op->output],
        .weight = param(net, ref->values, op->weight),
        .bias = param(net, ref->values, op->bias),
        .running_mean = param(net, ref->values, op->running_mean),
        .running_var = param(net, ref->values, op->running_var),
        .dy = ref->tensor_grads[op->output],
        .dx = ref->tensor_grads[op->inputs[0]],
        .dx2 = two ? ref->tensor_grads[op->inputs[1]] : NULL,
        .dweight = param(net, ref->grads, op->weight),
        .dbias = param(net, ref->grads, op->bias),
        .seed = batch->seed,
        .epoch = batch->epoch,
        .row_numbers = batch->index,
    };
}

static void forward(struct refnet *ref, const struct refnet_batch *batch, bool training)
{
    start(ref, batch);
    for (int i = 0; i < ref->net->op_count; i++) {
        struct ref_op op = view(ref, batch, i, training);
        ref_forward(&op);
    }
}

/*
 * Softmax cross-entropy of one row, whose gradient is softmax - target. A share of the target goes
 * to all classes alike: C. Szegedy et al., "Rethinking the Inception architecture", 2015,
 * section 7.
 */
static double row_loss(const double *logits, int classes, int label, double smoothing,
                       double *gradient)
{
    double largest = logits[0], sum = 0, loss = 0;
    for (int k = 1; k < classes; k++)
        largest = fmax(largest, logits[k]);
    for (int k = 0; k < classes; k++)
        sum += exp(logits[k] - largest);
    for (int k = 0; k < classes; k++) {
        double target = (k == label ? 1 - smoothing : 0) + smoothing / classes;
        gradient[k] = exp(logits[k] - largest) / sum - target;
        loss += target * (log(sum) + largest - logits[k]);
    }
    return loss;
}

/* Of equal logits the first one counts. */
static int largest_class(const double *logits, int classes)
{
    int best = 0;
    for (int k = 1; k < classes; k++)
        if (logits[k] > logits[best])
            best = k;
    return best;
}

static void loss(struct refnet *ref, const struct refnet_batch *batch, double smoothing,
                 struct batch_result *result)
{
    int classes = ref->net->classes;
    *result = (struct batch_result){0};
    for (int row = 0; row < batch->rows; row++) {
        const double *logits = refnet_logits(ref) + (size_t)row * (size_t)classes;
        double *gradient = ref->tensor_grads[ref->net->output] + (size_t)row * (size_t)classes;
        result->loss_sum += row_loss(logits, classes, batch->labels[row], smoothing, gradient);
        result->correct += largest_class(logits, classes) == batch->labels[row];
        for (int k = 0; k < classes; k++)
            gradient[k] /= (double)batch->global_rows;
    }
}

void refnet_train_loss(struct refnet *ref, const struct refnet_batch *batch,
                       struct batch_result *result)
{
    forward(ref, batch, true);
    loss(ref, batch, batch->label_smoothing, result);
}

void refnet_train(struct refnet *ref, const struct refnet_batch *batch, struct batch_result *result)
{
    refnet_train_loss(ref, batch, result);
    memset(ref->grads, 0, ref->net->value_count * sizeof *ref->grads);
    for (int i = ref->net->op_count - 1; i >= 0; i--) {
        struct ref_op op = view(ref, batch, i, true);
        ref_backward(&op);
    }
}

void refnet_eval(struct refnet *ref, const struct refnet_batch *batch, struct batch_result *result)
{
    forward(ref, batch, false);
    loss(ref, batch, 0, result);
}

const double *refnet_logits(const struct refnet *ref)
{
    return ref->tensors[ref->net->output];
}

/* mean or std of a channel; `none` where the model has none. */
static double channel_value(const float *values, int count, int channel, double none)
{
    return count == 0 ? none : (double)values[count == 1 ? 0 : channel];
}

double *refnet_input(const struct net *net, const struct dataset *data, const uint32_t *index,
                     int rows)
{
    size_t plane = (size_t)data->height * (size_t)data->width;
    size_t size = plane * (size_t)data->channels;
    double *input = zeros((size_t)rows * size, sizeof *input);
    for (size_t i = 0; i < (size_t)rows * size; i++) {
        size_t from = index[i / size] * size + i % size;
        int channel = (int)(i % size / plane);
        if (data->numbers)
            input[i] = (double)data->numbers[from];
        else
            input[i] = (data->pixels[from] / 255.0 -
                        channel_value(net->mean, net->mean_count, channel, 0)) /
                       channel_value(net->std, net->std_count, channel, 1);
    }
    return input;
}

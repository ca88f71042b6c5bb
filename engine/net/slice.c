/* SPDX-License-Identifier: MIT */
#include "engine/net/slice.h"

#include <stdlib.h>
#include <string.h>

#include "engine/net/builder.h"

/* Channels that vectors hold, on all machines the same so that slices are. */
enum { BLOCK = 16 };

/* A tensor of the whole network, as the slice has it. */
struct sliced {
    int own;      /* its tensor; of the slice's channels where `divided` */
    int whole;    /* of all channels; NET_NONE: not gathered yet */
    bool divided; /* each slice has some of the channels */
};

struct slicing {
    const struct net *net;
    int index, count;
    struct net_builder builder;
    struct sliced *tensors; /* per tensor of the whole network */
    struct net_slice *out;
};

/* The first channel of slice `index`, of `count`; of the one after the last their number. */
static int first_channel(int channels, int index, int count)
{
    const long blocks = (channels + BLOCK - 1) / BLOCK;
    if (channels < BLOCK * count)
        return (int)((long)channels * index / count);
    const long first = blocks * index / count * BLOCK;
    return first < channels ? (int)first : channels;
}

static int own_first(const struct slicing *s, int channels)
{
    return first_channel(channels, s->index, s->count);
}

static int own_count(const struct slicing *s, int channels)
{
    return first_channel(channels, s->index + 1, s->count) - own_first(s, channels);
}

static bool refuse(const struct slicing *s, const struct net_op *op, const char *why,
                   struct error *err)
{
    return error_set(err, ERROR_USAGE,
                     "%s cannot be divided over %d devices: %s%s%s %s; use another strategy, or "
                     "another number of devices",
                     s->net->name, s->count, net_kind_name(op->kind), *op->name ? " " : "",
                     op->name, why);
}

/* Append an operation that comes from `origin` of the whole network. */
static bool append(struct slicing *s, const struct net_op *op, int origin, int input, int *output,
                   struct error *err)
{
    if (!net_builder_layer(&s->builder, op, s->net->ops[origin].name, input, output, err))
        return false;
    s->builder.net->ops[s->builder.net->op_count - 1].origin = origin;
    return true;
}

/* All channels of a tensor. */
static bool gather(struct slicing *s, int tensor, int *whole, struct error *err)
{
    struct sliced *t = &s->tensors[tensor];
    const struct net_tensor *from = &s->net->tensors[tensor];
    const struct net_op op = {
        .kind = NET_GATHER, .outputs = from->shape.c, .first = own_first(s, from->shape.c)};
    *whole = t->divided ? t->whole : t->own;
    if (*whole != NET_NONE)
        return true;
    if (!append(s, &op, from->producer, t->own, &t->whole, err))
        return false;
    *whole = t->whole;
    return true;
}

/* Do the slices' channels consist of whole groups? */
static bool groups_fit(const struct slicing *s, int channels, int groups)
{
    for (int i = 0; i < s->count; i++)
        if (first_channel(channels, i, s->count) % (channels / groups) != 0)
            return false;
    return true;
}

/* A grouped convolution reads the channels of its own groups alone, which the slice has. */
static bool slice_groups(struct slicing *s, struct net_op *op, int tensor, int *input,
                         struct error *err)
{
    const struct sliced *t = &s->tensors[tensor];
    const int channels = s->net->tensors[tensor].shape.c, outputs = op->outputs;
    const int in_group = channels / op->groups, out_group = outputs / op->groups;
    *input = t->own;
    if (!t->divided)
        return refuse(s, op, "reads groups of what every device has whole", err);
    for (int i = 0; i < s->count; i++)
        if (first_channel(channels, i, s->count) / in_group !=
            first_channel(outputs, i, s->count) / out_group)
            return refuse(s, op, "has groups that differ from the devices' channels", err);
    if (!groups_fit(s, channels, op->groups) || !groups_fit(s, outputs, op->groups))
        return refuse(s, op, "has groups that would be cut", err);
    op->groups = own_count(s, channels) / in_group;
    return true;
}

/* Of a convolution or linear layer the slice computes some outputs. */
static bool slice_outputs(struct slicing *s, struct net_op *op, int tensor, int *input,
                          struct error *err)
{
    if (op->outputs < s->count)
        return refuse(s, op, "has fewer outputs than there are devices", err);
    if (op->groups > 1 ? !slice_groups(s, op, tensor, input, err) : !gather(s, tensor, input, err))
        return false;
    op->outputs = own_count(s, op->outputs);
    return true;
}

/* A norm works on channels, and has a weight and a bias for each. */
static bool slice_norm(struct slicing *s, struct net_op *op, int tensor, int *input,
                       struct error *err)
{
    const int channels = s->net->tensors[tensor].shape.c;
    *input = s->tensors[tensor].own;
    if (!s->tensors[tensor].divided)
        return refuse(s, op, "reads what every device has whole", err);
    if (op->kind == NET_BATCHNORM)
        return true;
    if (op->kind != NET_GROUPNORM)
        return refuse(s, op, "has parameters that cannot be divided", err);
    if (!groups_fit(s, channels, op->groups))
        return refuse(s, op, "has groups that would be cut", err);
    op->groups = own_count(s, channels) / (channels / op->groups);
    return true;
}

static bool slice_sum(struct slicing *s, int origin, const struct net_op *op, struct error *err)
{
    struct sliced *out = &s->tensors[op->output];
    int input[2];
    out->divided = s->tensors[op->inputs[0]].divided && s->tensors[op->inputs[1]].divided;
    for (int i = 0; i < 2; i++) {
        input[i] = s->tensors[op->inputs[i]].own;
        if (!out->divided && !gather(s, op->inputs[i], &input[i], err))
            return false;
    }
    if (!net_builder_sum(&s->builder, op->name, op->line, input[0], input[1], &out->own, err))
        return false;
    s->builder.net->ops[s->builder.net->op_count - 1].origin = origin;
    return true;
}

/* Channels of several pixels are none any more once they are flattened. */
static bool reads_whole(const struct slicing *s, const struct net_op *op)
{
    const struct net_shape in = s->net->tensors[op->inputs[0]].shape;
    switch (net_operation(op->kind)->access) {
    case NET_ALL_CHANNELS:
    case NET_ALL_NUMBERS:
        return true;
    case NET_SHAPE_CHANGED:
        return in.h * in.w > 1;
    default:
        return false;
    }
}

static bool slice_op(struct slicing *s, int origin, struct error *err)
{
    struct net_op op = s->net->ops[origin];
    const int tensor = op.inputs[0];
    struct sliced *out = &s->tensors[op.output];
    int input = s->tensors[tensor].own;
    if (op.kind == NET_ADD)
        return slice_sum(s, origin, &op, err);
    out->divided = s->tensors[tensor].divided;
    bool ok = true;
    if (op.kind == NET_CONV || op.kind == NET_LINEAR) {
        ok = s->count == 1 || slice_outputs(s, &op, tensor, &input, err);
        out->divided = s->count > 1;
    } else if (net_operation(op.kind)->params) {
        ok = s->count == 1 || slice_norm(s, &op, tensor, &input, err);
    } else if (reads_whole(s, &op)) {
        ok = gather(s, tensor, &input, err);
        out->divided = false;
    } else if (op.kind == NET_DROPOUT && out->divided) {
        op.first = own_first(s, s->net->tensors[tensor].shape.c);
    }
    return ok && append(s, &op, origin, input, &out->own, err);
}

/* The whole network's index of what the slice calls `param`. */
static int param_of(const struct net *net, const struct net *slice, int param)
{
    const struct net_param *p = &slice->params[param];
    const struct net_op *op = &net->ops[slice->ops[p->op].origin];
    switch (p->role) {
    case NET_WEIGHT:
    case NET_BN_WEIGHT:
        return op->weight;
    case NET_BIAS:
    case NET_BN_BIAS:
        return op->bias;
    case NET_RUNNING_MEAN:
        return op->running_mean;
    case NET_RUNNING_VAR:
        break;
    }
    return op->running_var;
}

/* Outputs are the first dimension of every param, so the slice's numbers lie together. */
static bool place_params(struct slicing *s, struct error *err)
{
    const struct net *slice = s->out->net;
    s->out->offsets = calloc((size_t)slice->param_count + 1, sizeof *s->out->offsets);
    if (!s->out->offsets)
        return error_memory(err, "a slice of the network");
    for (int i = 0; i < slice->param_count; i++) {
        const struct net_param *whole = &s->net->params[param_of(s->net, slice, i)];
        const size_t output = whole->count / (size_t)whole->dims[0];
        s->out->offsets[i] = whole->offset + (size_t)own_first(s, whole->dims[0]) * output;
    }
    return true;
}

/*
 * Every slice computes the loss, and so has the whole gradient of the logits, and of what they
 * follow from without a layer that is divided. Of what such a layer reads it has a part.
 */
enum gradient { GRADIENT_NONE, GRADIENT_WHOLE, GRADIENT_PART };

static bool find_gradients(struct slicing *s, enum gradient *gradients, struct error *err)
{
    struct net *slice = s->out->net;
    gradients[slice->output] = GRADIENT_WHOLE;
    for (int i = slice->op_count; i-- > 0;) {
        struct net_op *op = &slice->ops[i];
        const enum net_access access = net_operation(op->kind)->access;
        const bool divides = access == NET_ALL_CHANNELS || access == NET_ALL_NUMBERS;
        const enum gradient gradient = divides ? GRADIENT_PART : gradients[op->output];
        op->parts = op->kind == NET_GATHER && gradient == GRADIENT_PART;
        for (int k = 0; k < net_operation(op->kind)->inputs && op->kind != NET_GATHER; k++) {
            enum gradient *input = &gradients[op->inputs[k]];
            if (*input != GRADIENT_NONE && *input != gradient)
                return refuse(
                    s, op,
                    "reads what the logits are also computed from by layers that are not divided",
                    err);
            *input = gradient;
        }
    }
    return true;
}

/* A gather needs no exchange for a gradient that each slice has whole. */
static bool count_gathers(struct slicing *s, struct error *err)
{
    const struct net *slice = s->out->net;
    enum gradient *gradients = calloc((size_t)slice->tensor_count, sizeof *gradients);
    bool ok = gradients ? s->count == 1 || find_gradients(s, gradients, err)
                        : error_memory(err, "a slice of the network");
    free(gradients);
    for (int i = 0; ok && i < slice->op_count; i++) {
        const struct net_op *op = &slice->ops[i];
        if (op->kind != NET_GATHER)
            continue;
        s->out->gather_count++;
        s->out->gather_bytes += (op->parts ? 2 : 1) *
                                (double)net_shape_size(slice->tensors[op->output].shape) *
                                sizeof(float);
    }
    return ok;
}

static bool copy_names(const struct net *net, struct net *slice, struct error *err)
{
    slice->name = strdup(net->name);
    slice->source = strdup(net->source);
    slice->mean_count = net->mean_count;
    slice->std_count = net->std_count;
    memcpy(slice->mean, net->mean, sizeof slice->mean);
    memcpy(slice->std, net->std, sizeof slice->std);
    return (slice->name && slice->source) || error_memory(err, "a slice of the network");
}

static bool slice_all(struct slicing *s, struct error *err)
{
    const struct net *net = s->net;
    int logits;
    s->tensors = calloc((size_t)net->tensor_count, sizeof *s->tensors);
    if (!s->tensors)
        return error_memory(err, "a slice of the network");
    for (int i = 0; i < net->tensor_count; i++)
        s->tensors[i].whole = NET_NONE;
    if (!net_builder_start(&s->builder, net->source, net->input, net->classes, err) ||
        !copy_names(net, s->builder.net, err))
        return false;
    for (int i = 0; i < net->op_count; i++)
        if (!slice_op(s, i, err))
            return false;
    return gather(s, net->output, &logits, err) &&
           net_builder_finish(&s->builder, logits, &s->out->net, err) && place_params(s, err) &&
           count_gathers(s, err);
}

bool net_slice_make(const struct net *net, int index, int count, struct net_slice *out,
                    struct error *err)
{
    struct slicing s = {.net = net, .index = index, .count = count, .out = out};
    *out = (struct net_slice){.net = NULL};
    bool ok = slice_all(&s, err);
    free(s.tensors);
    net_builder_free(&s.builder);
    if (!ok)
        net_slice_free(out);
    return ok;
}

void net_slice_free(struct net_slice *slice)
{
    net_free(slice->net);
    free(slice->offsets);
    *slice = (struct net_slice){.net = NULL};
}

void net_slice_take(const struct net_slice *slice, const float *whole, float *own)
{
    for (int i = 0; i < slice->net->param_count; i++) {
        const struct net_param *param = &slice->net->params[i];
        memcpy(own + param->offset, whole + slice->offsets[i], param->count * sizeof *own);
    }
}

void net_slice_put(const struct net_slice *slice, const float *own, float *whole)
{
    for (int i = 0; i < slice->net->param_count; i++) {
        const struct net_param *param = &slice->net->params[i];
        memcpy(whole + slice->offsets[i], own + param->offset, param->count * sizeof *own);
    }
}

/* SPDX-License-Identifier: MIT */
#include "engine/net/slice.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "engine/net/builder.h"
#include "engine/net/slice_gathers.h"

/* Channels that vectors hold, on all machines the same so that slices are. */
enum { BLOCK = 16 };

/* A tensor of the whole network, as the slice has it. */
struct sliced {
    int own;      /* its tensor; of the slice's channels where `divided` */
    int whole;    /* of all channels; NET_NONE: not gathered yet */
    bool divided; /* each slice has some of the channels */
    bool rows;    /* each slice has some of the rows */
};

struct slicing {
    const struct net *net;
    enum net_division division;
    int index, count;
    bool by_rows; /* the operation being sliced computes those of the slice alone */
    bool divides; /* there has been a layer with params that does */
    struct net_builder builder;
    struct sliced *tensors; /* per tensor of the whole network */
    struct net_slice *out;
};

int net_slice_first(int channels, int index, int count)
{
    const long blocks = (channels + BLOCK - 1) / BLOCK;
    if (channels < BLOCK * count)
        return (int)((long)channels * index / count);
    const long first = blocks * index / count * BLOCK;
    return first < channels ? (int)first : channels;
}

static int own_first(const struct slicing *s, int channels)
{
    return net_slice_first(channels, s->index, s->count);
}

static int own_count(const struct slicing *s, int channels)
{
    return net_slice_first(channels, s->index + 1, s->count) - own_first(s, channels);
}

static bool refuse(const struct slicing *s, const struct net_op *op, const char *why,
                   struct error *err)
{
    return slice_refuse(s->net, s->count, op, why, err);
}

/* The operation that was appended comes from `origin` of the whole network. */
static void mark(struct slicing *s, int origin)
{
    struct net_op *op = &s->builder.net->ops[s->builder.net->op_count - 1];
    op->origin = origin;
    op->global_batch =
        s->division == NET_DIVIDE_LINEAR && !s->by_rows && op->kind != NET_GATHER_ROWS;
}

static bool append(struct slicing *s, const struct net_op *op, int origin, int input, int *output,
                   struct error *err)
{
    if (!net_builder_layer(&s->builder, op, s->net->ops[origin].name, input, output, err))
        return false;
    mark(s, origin);
    return true;
}

/* From here on the rows of all slices of a tensor. */
static bool gather_rows(struct slicing *s, const struct net_op *reader, int tensor,
                        struct error *err)
{
    struct sliced *t = &s->tensors[tensor];
    const struct net_op op = {.kind = NET_GATHER_ROWS};
    if (!t->rows)
        return true;
    if (tensor == 0)
        return refuse(s, reader, "reads the network's input, so nothing is left to divide by rows",
                      err);
    t->rows = false;
    return append(s, &op, s->net->tensors[tensor].producer, t->own, &t->own, err);
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
        if (net_slice_first(channels, i, s->count) % (channels / groups) != 0)
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
        if (net_slice_first(channels, i, s->count) / in_group !=
            net_slice_first(outputs, i, s->count) / out_group)
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
    if (s->division == NET_DIVIDE_LINEAR && op->kind == NET_BATCHNORM)
        return refuse(s, op, "comes after a linear layer", err);
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
    out->rows = s->by_rows;
    out->divided = s->tensors[op->inputs[0]].divided && s->tensors[op->inputs[1]].divided;
    for (int i = 0; i < 2; i++) {
        input[i] = s->tensors[op->inputs[i]].own;
        if (!out->divided && !gather(s, op->inputs[i], &input[i], err))
            return false;
    }
    if (!net_builder_sum(&s->builder, op->name, op->line, input[0], input[1], &out->own, err))
        return false;
    mark(s, origin);
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

/* Does the operation work on some of the rows? One that reads them all has them gathered. */
static bool choose_rows(struct slicing *s, const struct net_op *op, struct error *err)
{
    const int inputs = net_operation(op->kind)->inputs;
    bool rows = op->kind != NET_LINEAR;
    for (int i = 0; i < inputs; i++)
        rows = rows && s->tensors[op->inputs[i]].rows;
    s->by_rows = s->division == NET_DIVIDE_LINEAR && rows;
    for (int i = 0; i < inputs && !rows; i++)
        if (!gather_rows(s, op, op->inputs[i], err))
            return false;
    if (!net_operation(op->kind)->params)
        return true;
    s->divides = s->divides || !rows;
    return !rows || !s->divides ||
           refuse(s, op, "comes after a linear layer whose result it does not read", err);
}

static bool slice_op(struct slicing *s, int origin, struct error *err)
{
    struct net_op op = s->net->ops[origin];
    const int tensor = op.inputs[0];
    struct sliced *out = &s->tensors[op.output];
    if (!choose_rows(s, &op, err))
        return false;
    if (op.kind == NET_ADD)
        return slice_sum(s, origin, &op, err);
    int input = s->tensors[tensor].own;
    out->rows = s->tensors[tensor].rows;
    if (out->rows)
        return append(s, &op, origin, input, &out->own, err);
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
    const size_t count = (size_t)slice->param_count + 1;
    s->out->offsets = calloc(count, sizeof *s->out->offsets);
    s->out->replicated = calloc(count, sizeof *s->out->replicated);
    if (!s->out->offsets || !s->out->replicated)
        return error_memory(err, "a slice of the network");
    for (int i = 0; i < slice->param_count; i++) {
        const struct net_param *whole = &s->net->params[param_of(s->net, slice, i)];
        const size_t output = whole->count / (size_t)whole->dims[0];
        const bool replicated =
            s->division == NET_DIVIDE_LINEAR && !slice->ops[slice->params[i].op].global_batch;
        s->out->replicated[i] = replicated;
        s->out->offsets[i] =
            whole->offset + (replicated ? 0 : (size_t)own_first(s, whole->dims[0]) * output);
    }
    return true;
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
    s->tensors[0].rows = s->division == NET_DIVIDE_LINEAR;
    if (!net_builder_start(&s->builder, net->source, net->input, net->classes, err) ||
        !copy_names(net, s->builder.net, err))
        return false;
    for (int i = 0; i < net->op_count; i++)
        if (!slice_op(s, i, err))
            return false;
    if (s->tensors[net->output].rows)
        return error_set(err, ERROR_USAGE,
                         "%s has no linear layer to divide over %d device%s: use another strategy",
                         net->name, s->count, plural(s->count));
    return gather(s, net->output, &logits, err) &&
           net_builder_finish(&s->builder, logits, &s->out->net, err) && place_params(s, err) &&
           (s->count == 1 || slice_count_gathers(s->out, s->division, s->count, err));
}

bool net_slice_make(const struct net *net, enum net_division division, int index, int count,
                    struct net_slice *out, struct error *err)
{
    struct slicing s = {.net = net,
                        .division = count > 1 ? division : NET_DIVIDE_LAYERS,
                        .index = index,
                        .count = count,
                        .out = out};
    *out = (struct net_slice){.index = index};
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
    free(slice->replicated);
    *slice = (struct net_slice){.net = NULL};
}

void net_slice_take(const struct net_slice *slice, const float *whole, float *own)
{
    for (int i = 0; i < slice->net->param_count; i++) {
        const struct net_param *param = &slice->net->params[i];
        memcpy(own + param->offset, whole + slice->offsets[i], param->count * sizeof *own);
    }
}

void net_slice_put(const struct net_slice *slice, const float *own, bool trained, float *whole)
{
    for (int i = 0; i < slice->net->param_count; i++) {
        const struct net_param *param = &slice->net->params[i];
        if (net_is_trained(param) == trained && (!slice->replicated[i] || slice->index == 0))
            memcpy(whole + slice->offsets[i], own + param->offset, param->count * sizeof *own);
    }
}

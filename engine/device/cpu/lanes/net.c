/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/lanes/net.h"

#include <stdlib.h>

#include "engine/device/cpu/lanes/tiling.h"
#include "engine/device/cpu/layers/input.h"

/* Lays the network out for a thread: what lies where while a group passes, and until when. */
struct layout {
    struct lanes_net *net;
    const struct graph *graph;
    struct pool pool;
    int *value_of;          /* per value of the graph: its number here */
    struct buffer **values; /* per value here, as the two below */
    struct buffer **gradients;
    struct buffer **factors; /* per operation: of dropout */
};

/* Steps, for the lives of buffers: forward 1..n after the input, the loss, backward. */
static int forward_time(int op)
{
    return op + 1;
}

static int loss_time(const struct lanes_net *net)
{
    return net->op_count + 1;
}

static int backward_time(const struct lanes_net *net, int op)
{
    return 2 * net->op_count + 1 - op;
}

/* LANES_NONE: no activation, or one that is not computed here. */
static enum lanes_act act_of(enum net_kind kind)
{
    static const enum lanes_act acts[NET_ALL_KINDS] = {
        [NET_RELU] = LANES_RELU, [NET_SIGMOID] = LANES_SIGMOID, [NET_TANH] = LANES_TANH};
    return acts[kind];
}

/* 0: not computed here. */
static enum lanes_kind kind_of(enum net_kind kind)
{
    static const enum lanes_kind kinds[NET_ALL_KINDS] = {
        [NET_CONV] = LANES_CONV,           [NET_LINEAR] = LANES_LINEAR,
        [NET_MAXPOOL] = LANES_POOL,        [NET_AVGPOOL] = LANES_POOL,
        [NET_GLOBAL_AVGPOOL] = LANES_POOL, [NET_DROPOUT] = LANES_DROPOUT,
    };
    return act_of(kind) != LANES_NONE ? LANES_ACTIVATION : kinds[kind];
}

bool lanes_op_suits(const struct graph *graph, const struct node *node, bool flat)
{
    const struct net_op *op = &graph->net->ops[node->op];
    switch (kind_of(node->kind)) {
    case LANES_CONV:
        return !flat && op->stride_h == 1 && op->stride_w == 1 && op->dilation_h == 1 &&
               op->dilation_w == 1 && op->groups == 1;
    case LANES_POOL:
        return !flat && (node->kind != NET_AVGPOOL || op->count_include_pad);
    case LANES_LINEAR:
    case LANES_DROPOUT:
    case LANES_ACTIVATION:
        return true;
    }
    return node->kind == NET_FLATTEN;
}

static size_t image_floats(const struct layout *l, int value)
{
    return (size_t)lanes_size(&l->net->values[value].image) * (size_t)l->net->kernels->lanes;
}

static bool use(struct layout *l, struct buffer **slot, size_t floats, int time, struct error *err)
{
    if (!*slot)
        *slot = pool_add(&l->pool, BUFFER_PLANNED, floats * sizeof(float));
    if (!*slot)
        return error_memory(err, "a plan's buffers");
    buffer_use(*slot, time);
    return true;
}

static bool use_value(struct layout *l, int value, int time, struct error *err)
{
    return use(l, &l->values[value], image_floats(l, value), time, err);
}

static bool use_gradient(struct layout *l, int value, int time, struct error *err)
{
    return use(l, &l->gradients[value], image_floats(l, value), time, err);
}

/* An activation after a convolution or linear layer that has none is computed there. */
static bool join_activation(struct lanes_net *net, const struct node *node, int x)
{
    struct lanes_op *last = net->op_count > 0 ? &net->ops[net->op_count - 1] : NULL;
    if (!last || last->y != x || last->act != LANES_NONE || act_of(node->kind) == LANES_NONE ||
        (last->kind != LANES_CONV && last->kind != LANES_LINEAR))
        return false;
    last->act = act_of(node->kind);
    return true;
}

static void shape_pool(struct lanes_op *op, const struct net_op *from)
{
    const struct lanes_image x = op->pool.x;
    op->pool.max = from->kind == NET_MAXPOOL;
    if (from->kind == NET_GLOBAL_AVGPOOL) {
        op->pool.kernel_h = op->pool.stride_h = x.h;
        op->pool.kernel_w = op->pool.stride_w = x.w;
        return;
    }
    op->pool.kernel_h = from->kernel_h;
    op->pool.kernel_w = from->kernel_w;
    op->pool.stride_h = from->stride_h;
    op->pool.stride_w = from->stride_w;
    op->pool.pad_h = from->pad_h;
    op->pool.pad_w = from->pad_w;
}

static void add_op(struct layout *l, const struct node *node)
{
    struct lanes_net *net = l->net;
    const int x = l->value_of[node->input];
    if (lanes_is_name_only(node, net->training) || join_activation(net, node, x)) {
        l->value_of[node->output] = x;
        return;
    }
    const struct net_shape shape = l->graph->values[node->output].shape;
    const int y = l->value_of[node->output] = net->value_count++;
    net->values[y].image = (struct lanes_image){.c = shape.c, .h = shape.h, .w = shape.w};
    net->ops[net->op_count++] =
        (struct lanes_op){.kind = kind_of(node->kind),
                          .op = node->op,
                          .x = x,
                          .y = y,
                          .act = node->relu ? LANES_RELU : act_of(node->kind),
                          .backward = node->backward && net->training,
                          .data = l->graph->values[node->input].wants_grad};
}

/* A convolution wants a border around what it reads; the operation before it makes that. */
static void add_borders(struct layout *l)
{
    for (int i = l->net->op_count; i-- > 0;) {
        struct lanes_op *op = &l->net->ops[i];
        const struct net_op *from = &l->net->net->ops[op->op];
        struct lanes_image *x = &l->net->values[op->x].image;
        const struct lanes_image *y = &l->net->values[op->y].image;
        if (op->kind == LANES_CONV) {
            x->pad_h = from->pad_h;
            x->pad_w = from->pad_w;
        } else if (op->kind == LANES_DROPOUT || op->kind == LANES_ACTIVATION) {
            x->pad_h = y->pad_h;
            x->pad_w = y->pad_w;
        }
    }
}

/* The pooling after a convolution takes the backward pass of its activation. */
static void join_pool(struct lanes_op *op, struct lanes_op *before)
{
    if (!op->backward || !op->data || !lanes_pool_is_simple(&op->pool) || before->y != op->x ||
        before->kind != LANES_CONV)
        return;
    before->through = true;
    op->before = before;
    op->act_before = before->act;
}

static void shape_op(struct layout *l, struct lanes_op *op)
{
    struct lanes_net *net = l->net;
    const struct net_op *from = &net->net->ops[op->op];
    const struct lanes_image x = net->values[op->x].image, y = net->values[op->y].image;
    const size_t lanes = (size_t)net->kernels->lanes;
    size_t weights;
    switch (op->kind) {
    case LANES_CONV:
        op->conv = (struct lanes_conv){
            .kernel_h = from->kernel_h, .kernel_w = from->kernel_w, .x = x, .y = y, .act = op->act};
        op->conv.tile = lanes_conv_tile(&op->conv);
        if (op->conv.tile > 0 && net->scratch < lanes_conv_scratch(&op->conv, net->kernels))
            net->scratch = lanes_conv_scratch(&op->conv, net->kernels);
        weights = lanes_conv_weights(&op->conv);
        op->packed = net->packed;
        net->packed += weights;
        if (!op->backward)
            break;
        op->sums = net->sums;
        op->bias_sums = net->sums + weights;
        net->sums += weights + (from->bias == NET_NONE ? 0 : (size_t)y.c);
        if (op->data) {
            op->packed_data = net->packed;
            net->packed += weights;
        }
        break;
    case LANES_LINEAR:
        op->in = (int)lanes_size(&x);
        op->out = y.c;
        op->x_stride = ((size_t)op->in + lanes - 1) / lanes * lanes;
        op->y_stride = ((size_t)op->out + lanes - 1) / lanes * lanes;
        op->packed = net->packed;
        net->packed += (size_t)op->in * (size_t)op->out;
        break;
    case LANES_POOL:
        op->pool.x = x;
        op->pool.y = y;
        shape_pool(op, from);
        if (op != net->ops)
            join_pool(op, op - 1);
        break;
    case LANES_DROPOUT:
    case LANES_ACTIVATION:
        break;
    }
}

static bool lay_out_op(struct layout *l, int i, struct error *err)
{
    struct lanes_net *net = l->net;
    const struct lanes_op *op = &net->ops[i];
    const int forward = forward_time(i), backward = backward_time(net, i);
    if (!use_value(l, op->x, forward, err) || !use_value(l, op->y, forward, err))
        return false;
    if (op->kind == LANES_DROPOUT && !use(l, &l->factors[i], image_floats(l, op->x), forward, err))
        return false;
    if (!op->backward)
        return true;
    if (op->kind == LANES_DROPOUT && !use(l, &l->factors[i], 0, backward, err))
        return false;
    if (op->through) /* the gradient of y goes over its value */
        l->gradients[op->y] = l->values[op->y];
    return use_value(l, op->x, backward, err) && use_value(l, op->y, backward, err) &&
           use_gradient(l, op->y, backward, err) &&
           (!op->data || use_gradient(l, op->x, backward, err));
}

static bool lay_out(struct layout *l, struct error *err)
{
    struct lanes_net *net = l->net;
    size_t bytes, scratch;
    if (!use_value(l, 0, 0, err) || !use_value(l, net->output, loss_time(net), err) ||
        (net->training && !use_gradient(l, net->output, loss_time(net), err)))
        return false;
    for (int i = 0; i < net->op_count; i++)
        if (!lay_out_op(l, i, err))
            return false;
    if (!pool_layout(&l->pool, &bytes, &scratch, err))
        return false;
    for (int i = 0; i < net->value_count; i++) {
        net->values[i].at = l->values[i]->offset / sizeof(float);
        if (l->gradients[i])
            net->values[i].gradient = l->gradients[i]->offset / sizeof(float);
    }
    for (int i = 0; i < net->op_count; i++)
        if (l->factors[i])
            net->ops[i].factors = l->factors[i]->offset / sizeof(float);
    net->memory = (bytes + scratch) / sizeof(float);
    return true;
}

/* Behind the thread's values: its sums, the rows of the gradient of its logits, changed pictures.
 */
static void add_thread_memory(struct lanes_net *net)
{
    const size_t lanes = (size_t)net->kernels->lanes;
    net->sums = (net->sums + lanes - 1) / lanes * lanes;
    net->sums_at = net->memory;
    net->logit_gradients = net->sums_at + net->sums * lanes;
    net->pictures = net->logit_gradients + lanes * net->logits_row;
    net->scratch_at = net->pictures + (lanes * net->picture + sizeof(float) - 1) / sizeof(float);
    net->scratch_at = (net->scratch_at + lanes - 1) / lanes * lanes;
    net->memory = net->scratch_at + net->scratch;
    net->memory = memory_round(net->memory * sizeof(float)) / sizeof(float);
}

static bool shape_net(struct layout *l, struct error *err)
{
    struct lanes_net *net = l->net;
    const size_t lanes = (size_t)net->kernels->lanes;
    const struct net_shape in = net->net->input;
    net->values[net->value_count++].image = (struct lanes_image){.c = in.c, .h = in.h, .w = in.w};
    net->picture = net_shape_size(in);
    for (int i = 0; i < l->graph->node_count; i++)
        add_op(l, &l->graph->nodes[i]);
    net->output = l->value_of[l->graph->logits];
    net->logits_row = ((size_t)net->net->classes + lanes - 1) / lanes * lanes;
    add_borders(l);
    for (int i = 0; i < net->op_count; i++)
        shape_op(l, &net->ops[i]);
    if (!lay_out(l, err))
        return false;
    add_thread_memory(net);
    return true;
}

bool lanes_net_create(const struct graph *graph, const struct lanes_kernels *kernels, bool training,
                      int rows, int threads, struct lanes_net *out, struct error *err)
{
    const size_t values = (size_t)graph->value_count, nodes = (size_t)graph->node_count + 1;
    const size_t channels = (size_t)graph->net->input.c;
    struct layout l = {.net = out,
                       .graph = graph,
                       .value_of = calloc(values, sizeof *l.value_of),
                       .values = calloc(values, sizeof *l.values),
                       .gradients = calloc(values, sizeof *l.gradients),
                       .factors = calloc(nodes, sizeof *l.factors)};
    *out = (struct lanes_net){.kernels = kernels,
                              .net = graph->net,
                              .training = training,
                              .rows = rows,
                              .groups = (rows + kernels->lanes - 1) / kernels->lanes,
                              .threads = threads,
                              .ops = calloc(nodes, sizeof *out->ops),
                              .values = calloc(values, sizeof *out->values),
                              .scale = malloc(channels * sizeof *out->scale),
                              .shift = malloc(channels * sizeof *out->shift)};
    bool ok = (l.value_of && l.values && l.gradients && l.factors && out->ops && out->values &&
               out->scale && out->shift) ||
              error_memory(err, "a plan");
    if (ok) {
        input_scaling(graph->net, out->scale, out->shift);
        ok = shape_net(&l, err);
    }
    pool_free(&l.pool);
    free(l.value_of);
    free(l.values);
    free(l.gradients);
    free(l.factors);
    if (!ok)
        lanes_net_free(out);
    return ok;
}

void lanes_net_free(struct lanes_net *net)
{
    free(net->ops);
    free(net->values);
    free(net->scale);
    free(net->shift);
    free(net->spent);
    net->ops = NULL;
    net->values = NULL;
    net->scale = net->shift = NULL;
    net->spent = NULL;
}

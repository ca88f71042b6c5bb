/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/lanes/build.h"

#include "engine/device/cpu/lanes/run.h"

/*
 * Networks that are worth it: what a thread works with while a group passes is at most 1.5 MiB,
 * about what the caches that a core has for itself hold, and the weights of linear layers, which
 * every group reads, are half a MiB more. Larger networks fill vectors with their channels, and
 * gain nothing.
 */
#define MOST_GROUP_BYTES    ((size_t)6 << 18)
#define MOST_LINEAR_WEIGHTS ((size_t)1 << 17)

/* One operation after the other, from the input to the logits. */
static bool is_chain(const struct graph *graph)
{
    int value = 0;
    size_t weights = 0;
    bool flat = false;
    for (int i = 0; i < graph->node_count; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->input != value || node->residual != NET_NONE || node->op == NET_NONE ||
            !lanes_op_suits(graph, node, flat))
            return false;
        value = node->output;
        flat |= node->kind == NET_FLATTEN || node->kind == NET_LINEAR;
        if (node->kind == NET_LINEAR)
            weights += graph->net->params[graph->net->ops[node->op].weight].count;
    }
    return value == graph->logits && weights <= MOST_LINEAR_WEIGHTS;
}

bool lanes_suit(const struct device *device, const struct graph *graph, bool *suit,
                struct error *err)
{
    const struct lanes_kernels *kernels = lanes_find(device->block);
    struct lanes_net net;
    *suit = false;
    if (device->no_lanes || !kernels || !is_chain(graph))
        return true;
    if (!lanes_net_create(graph, kernels, true, 0, 1, &net, err))
        return false;
    *suit = net.memory * sizeof(float) <= MOST_GROUP_BYTES;
    lanes_net_free(&net);
    return true;
}

static struct buffer *use_new(struct builder *b, size_t bytes, struct error *err)
{
    struct buffer *buffer = build_buffer(b, bytes, err);
    if (buffer)
        build_use(b, buffer);
    return buffer;
}

static bool bind_op(struct builder *b, struct lanes_net *net, struct lanes_op *op,
                    struct error *err)
{
    const struct net_op *from = &net->net->ops[op->op];
    const size_t rows = (size_t)net->groups * (size_t)net->kernels->lanes;
    if (op->kind != LANES_CONV && op->kind != LANES_LINEAR)
        return true;
    op->weights = param_values(b, from->weight);
    op->weight_gradient = param_grads(b, from->weight);
    op->bias = param_values(b, from->bias);
    op->bias_gradient = param_grads(b, from->bias);
    if (op->kind == LANES_CONV || !op->backward)
        return true;
    op->x_rows = use_new(b, rows * op->x_stride * sizeof(float), err);
    op->dy_rows = use_new(b, rows * op->y_stride * sizeof(float), err);
    return op->x_rows && op->dy_rows;
}

static bool make_buffers(struct builder *b, struct lanes_net *net, struct error *err)
{
    const size_t rows = (size_t)net->groups * (size_t)net->kernels->lanes;
    const size_t threads = (size_t)net->threads;
    net->threads_memory = use_new(b, threads * net->memory * sizeof(float), err);
    net->packed_weights = use_new(b, net->packed * sizeof(float), err);
    net->partial = net->training ? use_new(b, threads * net->sums * sizeof(float), err) : NULL;
    net->logits = use_new(b, rows * net->logits_row * sizeof(float), err);
    net->losses = use_new(b, rows * sizeof(double), err);
    b->core->logits = net->logits;
    b->core->logits_row = net->logits_row;
    return net->threads_memory && net->packed_weights && (net->partial || !net->training) &&
           net->logits && net->losses;
}

static void release(void *layer)
{
    lanes_net_free(layer);
}

/* The whole pass, where others have the input. */
static bool build_pass(struct builder *b, struct error *err)
{
    struct lanes_net *net = b->plan->lanes = build_object(b, sizeof *net, release, err);
    const size_t threads = (size_t)b->device->threads;
    if (!net || !lanes_net_create(b->graph, lanes_find(b->device->block), b->training, b->rows,
                                  b->device->threads, net, err))
        return false;
    net->smoothing = b->training ? b->core->request.label_smoothing : 0;
    if (b->core->request.profile) {
        net->step_count = 3 * b->graph->node_count + 2;
        net->spent = calloc(threads * (size_t)net->step_count, sizeof *net->spent);
        if (!net->spent)
            return error_memory(err, "a profile");
    }
    for (int i = 0; i < net->op_count; i++)
        if (!bind_op(b, net, &net->ops[i], err))
            return false;
    return make_buffers(b, net, err) && build_step(b, NULL, lanes_run, net, err);
}

static bool do_nothing(struct plan *plan, void *layer, struct error *err)
{
    (void)plan;
    (void)layer;
    (void)err;
    return true;
}

static size_t value_bytes(const struct builder *b, int value)
{
    return (size_t)b->rows * value_row(&b->graph->values[value]) * sizeof(float);
}

/* A step for a profile. An activation that another operation took along keeps its line, without any
 * time or traffic. */
static bool stand_for(struct builder *b, const struct node *node, enum plan_direction direction,
                      int which, struct error *err)
{
    struct lanes_net *net = b->plan->lanes;
    if (!b->core->request.profile)
        return true;
    bool own = false;
    for (int i = 0; i < net->op_count; i++)
        if (net->ops[i].op == node->op) {
            net->ops[i].steps[which] = b->time;
            own = true;
        }
    build_label(b, direction, own ? "rows side by side" : "fused");
    b->bytes = own ? value_bytes(b, node->input) + value_bytes(b, node->output) : 0;
    return build_step(b, node, do_nothing, NULL, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    (void)layer;
    return lanes_is_name_only(node, b->training) || stand_for(b, node, PLAN_FORWARD, 0, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    const bool trained = node->kind == NET_CONV || node->kind == NET_LINEAR;
    const bool data = b->graph->values[node->input].wants_grad;
    (void)layer;
    if (lanes_is_name_only(node, b->training) || (!trained && !data))
        return true;
    return stand_for(b, node, trained ? PLAN_BACKWARD_WEIGHTS : PLAN_BACKWARD, 1, err) &&
           (!trained || !data || stand_for(b, node, PLAN_BACKWARD_DATA, 2, err));
}

static const struct layer_kind stand_in = {.forward = forward, .backward = backward};

static const struct layer_kind *layer_of(enum net_kind kind)
{
    (void)kind;
    return &stand_in;
}

static bool build_losses(struct builder *b, struct error *err)
{
    if (!b->core->request.profile)
        return true;
    b->plan->lanes->loss_step = b->time;
    return build_step(b, NULL, do_nothing, NULL, err);
}

const struct build_backend lanes_build_backend = {
    .number_size = sizeof(float), .layer_of = layer_of, .input = build_pass, .loss = build_losses};

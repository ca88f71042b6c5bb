/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/plan_build.h"

static const struct layer_kind *layer_of(enum net_kind kind)
{
    switch (kind) {
    case NET_CONV:
        return &layer_conv;
    case NET_BATCHNORM:
        return &layer_batchnorm;
    case NET_RELU:
    case NET_SIGMOID:
    case NET_TANH:
        return &layer_activation;
    case NET_MAXPOOL:
    case NET_AVGPOOL:
        return &layer_pool;
    case NET_GLOBAL_AVGPOOL:
        return &layer_global_pool;
    case NET_LINEAR:
        return &layer_linear;
    case NET_FLATTEN:
        return &layer_flatten;
    case NET_ADD:
        return &layer_add;
    case NET_DROPOUT:
        return &layer_dropout;
    }
    return NULL;
}

/* Without rows nothing is left but the exchanges of synchronised statistics, in everybody's order.
 */
static bool takes_part(const struct builder *b, const struct node *node)
{
    return b->rows > 0 || (node->kind == NET_BATCHNORM && b->training && b->plan->request.sync_bn);
}

static bool name_node(const struct builder *b, const struct node *node, struct error *err)
{
    const char *name = node->op == NET_NONE ? "" : b->graph->net->ops[node->op].name;
    return error_prefix(err, "%s%s%s", net_kind_name(node->kind), *name ? " " : "", name);
}

static bool build_forward(struct builder *b, struct error *err)
{
    if (b->rows > 0 && !build_input(b, err))
        return false;
    for (int i = 0; i < b->graph->node_count; i++) {
        const struct node *node = &b->graph->nodes[i];
        if (takes_part(b, node) && !layer_of(node->kind)->forward(b, node, &b->layers[i], err))
            return name_node(b, node, err);
    }
    return b->rows == 0 || build_loss(b, err);
}

static bool build_backward(struct builder *b, struct error *err)
{
    for (int i = b->graph->node_count; i-- > 0;) {
        const struct node *node = &b->graph->nodes[i];
        if (node->backward && takes_part(b, node) &&
            !layer_of(node->kind)->backward(b, node, b->layers[i], err))
            return name_node(b, node, err);
    }
    return true;
}

/* The logits stay readable behind the last step. */
static void keep_logits(struct builder *b)
{
    struct buffer *logits = b->values[b->graph->output];
    build_use(b, logits);
    b->plan->logits = logits;
    b->plan->logits_row = value_row(&b->graph->values[b->graph->output]);
}

static bool build(struct builder *b, struct error *err)
{
    if (!build_forward(b, err) || (b->training && !build_backward(b, err)))
        return false;
    if (b->rows > 0)
        keep_logits(b);
    return pool_layout(&b->plan->pool, &b->plan->planned_bytes, err);
}

bool plan_build(struct plan *plan, struct error *err)
{
    const struct graph *graph = &plan->replica->graph;
    struct builder b = {
        .plan = plan,
        .device = plan->device,
        .replica = plan->replica,
        .graph = graph,
        .rows = plan->request.rows,
        .training = plan->request.mode == PLAN_TRAIN,
        .values = calloc((size_t)graph->value_count, sizeof *b.values),
        .gradients = calloc((size_t)graph->value_count, sizeof *b.gradients),
        .layers = calloc((size_t)graph->node_count + 1, sizeof *b.layers),
    };
    bool ok =
        b.values && b.gradients && b.layers ? build(&b, err) : error_memory(err, "building a plan");
    free(b.values);
    free(b.gradients);
    free(b.layers);
    return ok;
}

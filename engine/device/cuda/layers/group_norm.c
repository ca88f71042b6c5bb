/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"

struct group_layer {
    struct group_norm norm;
    float *dgamma, *dbeta;
    struct buffer *x, *y, *dy, *dx;      /* dx: NULL where nobody wants it */
    struct buffer *stats;                /* from forward to backward */
    struct buffer *sums[2], *factors[2]; /* of the forward and the backward step */
};

/* As the pass `backward` has it. */
static struct group_norm norm_of(const struct group_layer *g, bool backward)
{
    struct group_norm norm = g->norm;
    norm.stats = g->stats->data;
    norm.sums = g->sums[backward]->data;
    norm.factors = g->factors[backward]->data;
    return norm;
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct group_layer *g = layer;
    const struct group_norm norm = norm_of(g, false);
    return cuda_kernel(kernel_group_norm(plan->device->stream, &norm, g->x->data, g->y->data), err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct group_layer *g = layer;
    const struct group_norm norm = norm_of(g, true);
    return cuda_kernel(kernel_group_norm_backward(plan->device->stream, &norm, g->x->data,
                                                  g->dy->data, g->dx ? g->dx->data : NULL,
                                                  g->dgamma, g->dbeta),
                       err);
}

static bool make_scratch(struct group_layer *g, struct builder *b, bool backward, struct error *err)
{
    g->sums[backward] = build_scratch(b, kernel_group_norm_sums(g->norm.shape), err);
    g->factors[backward] =
        g->sums[backward] ? build_scratch(b, kernel_group_norm_factors(g->norm.shape), err) : NULL;
    return g->factors[backward] != NULL;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct group_layer *g = *layer = build_object(b, sizeof *g, NULL, err);
    if (!g)
        return false;
    g->norm = (struct group_norm){.type = b->device->storage,
                                  .shape = cuda_shape(b, node->input),
                                  .groups = op->groups,
                                  .eps = op->eps,
                                  .gamma = cuda_param(b, op->weight),
                                  .beta = cuda_param(b, op->bias)};
    const size_t stats = 2 * (size_t)b->rows * (size_t)op->groups * sizeof(float);
    g->x = build_value(b, node->input, err);
    g->y = g->x ? build_value(b, node->output, err) : NULL;
    g->stats = g->y ? build_buffer(b, stats, err) : NULL;
    if (!g->stats)
        return false;
    build_use(b, g->stats);
    return make_scratch(g, b, false, err) && build_step(b, node, run_forward, g, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const bool wants_dx = b->graph->values[node->input].wants_grad;
    struct group_layer *g = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    g->dy = dy[0];
    g->dgamma = cuda_grads(b, op->weight);
    g->dbeta = cuda_grads(b, op->bias);
    build_use(b, g->x);
    build_use(b, g->stats);
    if (wants_dx && !(g->dx = gradient_result(b, g->dy, node->input, err)))
        return false;
    if (!make_scratch(g, b, true, err) || !build_step(b, node, run_backward, g, err) ||
        (wants_dx && !gradient_give(b, node, node->input, g->dx, err)))
        return false;
    gradient_drop(g->dy);
    return true;
}

const struct layer_kind cuda_layer_groupnorm = {.forward = forward, .backward = backward};

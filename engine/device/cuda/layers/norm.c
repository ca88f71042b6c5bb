/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/norm_run.h"
#include "engine/device/cuda/layers/operands.h"

static void release(void *layer)
{
    struct norm *n = layer;
    if (n->host && !n->device->given_up)
        cudaFreeHost(n->host);
}

static void bind_parameters(struct norm *n, const struct builder *b, const struct node *node)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const struct cuda_replica *r = b->plan->replica;
    n->params = (struct norm_params){.channels = n->shape.channels,
                                     .gamma = cuda_param(b, op->weight),
                                     .beta = cuda_param(b, op->bias),
                                     .input_bias = cuda_param(b, node->input_bias),
                                     .residual_bias = cuda_param(b, node->residual_bias),
                                     .running_mean = cuda_param(b, op->running_mean),
                                     .running_var = cuda_param(b, op->running_var),
                                     .eps = op->eps,
                                     .momentum = op->momentum};
    n->micro = b->training && r->gathered;
    if (!n->micro)
        return;
    n->params.gathered_mean = r->gathered + (n->params.running_mean - r->base.statistics);
    n->params.gathered_variance = r->gathered + (n->params.running_var - r->base.statistics);
}

/* Scratch of the step being built: sums of this device and of all devices, and partial sums. */
static bool make_sums(struct norm *n, struct builder *b, struct norm_scratch *s, struct error *err)
{
    const size_t bytes = 2 * (size_t)n->shape.channels * sizeof(double);
    s->own = build_scratch(b, bytes, err);
    s->all = s->own ? build_scratch(b, bytes, err) : NULL;
    s->partials = s->all ? build_scratch(b, kernel_sums_scratch(n->shape), err) : NULL;
    return s->partials != NULL;
}

static bool make_values(struct norm *n, struct builder *b, const struct node *node,
                        struct error *err)
{
    n->x = build_value(b, node->input, err);
    n->y = n->x ? build_value(b, node->output, err) : NULL;
    if (n->y && node->residual != NET_NONE && !(n->other = build_value(b, node->residual, err)))
        return false;
    return n->y != NULL;
}

/* Where the sign of y cannot be found again from x alone the forward pass leaves it as bits, which
 * the backward pass reads in place of y. */
static bool make_mask(struct norm *n, struct builder *b, const struct node *node, struct error *err)
{
    if (!b->training || b->rows == 0 || !node->backward || !n->relu || !n->other)
        return true;
    n->mask = build_buffer(b, kernel_norm_mask_bytes(b->device->storage, n->shape), err);
    if (!n->mask)
        return false;
    build_use(b, n->mask);
    return true;
}

/* The sums that the convolution in front made along the way. */
static void take_sums(struct norm *n, struct builder *b, const struct node *node)
{
    n->made = b->plan->sums[node->input];
    if (!n->made.sums)
        return;
    build_use(b, n->made.sums);
    build_use(b, n->made.squares);
}

static bool build_statistics(struct norm *n, struct builder *b, const struct node *node,
                             struct error *err)
{
    const size_t channels = (size_t)n->shape.channels;
    n->slot = pass_add_norm(&b->plan->pass, value_pixels(&b->graph->values[node->input]), n->sync);
    n->device = b->device;
    if (n->sync && !cuda_check(cudaMallocHost((void **)&n->host, 2 * channels * sizeof(double)),
                               "pinned memory", err))
        return false;
    take_sums(n, b, node);
    n->x = b->values[node->input];
    if (b->rows > 0 && !n->made.sums && !(n->x = build_value(b, node->input, err)))
        return false;
    build_use(b, n->stats);
    build_label(b, PLAN_STATISTICS, "");
    return make_sums(n, b, &n->forward, err) && build_step(b, node, norm_run_statistics, n, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct value *x = &b->graph->values[node->input];
    struct norm *n = *layer = build_object(b, sizeof *n, release, err);
    if (!n)
        return false;
    n->shape = cuda_shape(b, node->input);
    n->relu = node->relu;
    n->sync = b->training && b->core->request.sync_bn;
    n->wants_dx = x->wants_grad;
    bind_parameters(n, b, node);
    n->stats = build_buffer(b, NORM_ARRAYS * (size_t)n->shape.channels * sizeof(float), err);
    if (!n->stats || (b->training && !build_statistics(n, b, node, err)))
        return false;
    if (b->rows == 0)
        return true;
    build_use(b, n->stats);
    return make_values(n, b, node, err) && make_mask(n, b, node, err) &&
           build_step(b, node, b->training ? norm_run_apply : norm_run_evaluation, n, err);
}

/*
 * The gradient before the ReLU (and of the addition) is written down where the other branch
 * wants it, or where making it twice would cost more reading; else both passes over memory make it.
 */
static bool place_gradients(struct norm *n, struct builder *b, const struct node *node,
                            struct error *err)
{
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 2, dy, err))
        return false;
    n->dy = dy[0];
    n->dy2 = dy[1];
    build_use(b, n->x);
    if (n->mask)
        build_use(b, n->mask);
    if (node->residual != NET_NONE || n->dy2) {
        n->g = gradient_is_mine(n->dy)              ? n->dy
               : n->dy2 && gradient_is_mine(n->dy2) ? n->dy2
                                                    : gradient_new(b, node->output, err);
        if (!n->g)
            return false;
    }
    return true;
}

static bool build_data(struct norm *n, struct builder *b, const struct node *node,
                       struct error *err)
{
    if (!n->wants_dx || b->rows == 0)
        return true;
    if (node->residual != NET_NONE)
        n->dx = gradient_new(b, node->input, err);
    else
        n->dx = n->g ? n->g : gradient_result(b, n->dy, node->input, err);
    if (!n->dx)
        return false;
    struct buffer *const used[] = {
        n->stats, n->x, n->dx, n->g ? n->g : n->dy, n->g ? NULL : n->dy2, n->g ? NULL : n->mask};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (used[i])
            build_use(b, used[i]);
    build_label(b, PLAN_BACKWARD_DATA, "");
    return build_step(b, node, norm_run_backward_apply, n, err);
}

static bool give_gradients(struct norm *n, struct builder *b, const struct node *node,
                           struct error *err)
{
    if (node->residual != NET_NONE && !gradient_give(b, node, node->residual, n->g, err))
        return false;
    if (n->wants_dx && !gradient_give(b, node, node->input, n->dx, err))
        return false;
    gradient_drop(n->dy);
    if (n->dy2)
        gradient_drop(n->dy2);
    return true;
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct norm *n = layer;
    if (b->rows > 0 && !place_gradients(n, b, node, err))
        return false;
    build_use(b, n->stats);
    n->gradients = (struct norm_gradients){.dgamma = cuda_grads(b, op->weight),
                                           .dbeta = cuda_grads(b, op->bias),
                                           .dinput_bias = cuda_grads(b, node->input_bias),
                                           .dresidual_bias = cuda_grads(b, node->residual_bias)};
    build_label(b, PLAN_BACKWARD_WEIGHTS, "");
    return make_sums(n, b, &n->backward, err) &&
           build_step(b, node, norm_run_backward_sums, n, err) && build_data(n, b, node, err) &&
           (b->rows == 0 || give_gradients(n, b, node, err));
}

const struct layer_kind cuda_layer_batchnorm = {.forward = forward, .backward = backward};

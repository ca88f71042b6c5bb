/* SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "engine/device/cuda/plan.h"

/*
 * Which numbers are dropped depends on (seed, epoch, row of the data set, operation, place in the
 * c,h,w order) alone, so the masks do not change with the split or the device. The backward pass
 * computes them again.
 */
struct dropout {
    const struct buffer *x, *y, *dy, *dx;
    struct dropout_args args;
};

static bool drop(struct plan *plan, const struct dropout *d, const struct buffer *from,
                 const struct buffer *to, struct error *err)
{
    struct dropout_args args = d->args;
    args.ids = pass_index(&plan->pass);
    args.pass = pass_dropout(&plan->pass);
    return cuda_kernel(
        kernel_dropout(plan->device->stream, plan->device->storage, &args, from->data, to->data),
        err);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct dropout *d = layer;
    return drop(plan, d, d->x, d->y, err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct dropout *d = layer;
    return drop(plan, d, d->dy, d->dx, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct buffer *x = build_value(b, node->input, err);
    if (!x)
        return false;
    if (!b->training) {
        b->values[node->output] = x;
        return true;
    }
    struct dropout *d = *layer = build_object(b, sizeof *d, NULL, err);
    if (!d)
        return false;
    d->args = (struct dropout_args){.shape = cuda_shape(b, node->input),
                                    .op = (uint32_t)node->op,
                                    .threshold = rng_threshold(op->p),
                                    .scale = (float)(1 / (1 - op->p))};
    d->x = x;
    d->y = build_value(b, node->output, err);
    return d->y && build_step(b, node, run_forward, d, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct dropout *d = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_result(b, dy[0], node->input, err);
    if (!dx)
        return false;
    d->dy = dy[0];
    d->dx = dx;
    if (!build_step(b, node, run_backward, d, err) || !gradient_give(b, node, node->input, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind cuda_layer_dropout = {forward, backward};

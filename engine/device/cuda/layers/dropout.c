/* SPDX-License-Identifier: MIT */
#include "base/rng.h"
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/unary_layer.h"

/*
 * Which numbers are dropped depends on (seed, epoch, row of the data set, operation, place in the
 * c,h,w order) alone, so the masks do not change with the split or the device. The backward pass
 * computes them again.
 */
struct dropout {
    struct unary_layer base;
    struct dropout_args args;
    bool global_batch; /* its rows are those of all devices */
};

static bool drop(struct plan *plan, const struct dropout *d, const struct buffer *from,
                 const struct buffer *to, struct error *err)
{
    struct dropout_args args = d->args;
    args.ids = pass_index(&plan->pass, d->global_batch);
    args.pass = pass_dropout(&plan->pass);
    return cuda_kernel(
        kernel_dropout(plan->device->stream, plan->device->storage, &args, from->data, to->data),
        err);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct dropout *d = layer;
    return drop(plan, d, d->base.x, d->base.y, err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct dropout *d = layer;
    return drop(plan, d, d->base.dy, d->base.dx, err);
}

static bool is_alias(const struct builder *b, const struct node *node)
{
    (void)node;
    return !b->training;
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    struct dropout *d = object;
    (void)err;
    d->global_batch = b->global_batch;
    d->args = (struct dropout_args){.shape = cuda_shape(b, node->input),
                                    .op = (uint32_t)op->origin,
                                    .first = (uint32_t)op->first,
                                    .threshold = rng_threshold(op->p),
                                    .scale = (float)(1 / (1 - op->p))};
    return true;
}

static const struct unary_kind dropout = {.size = sizeof(struct dropout),
                                          .is_alias = is_alias,
                                          .prepare = prepare,
                                          .run = run_forward,
                                          .run_backward = run_backward,
                                          .in_place = true};

const struct layer_kind cuda_layer_dropout = {.unary = &dropout};

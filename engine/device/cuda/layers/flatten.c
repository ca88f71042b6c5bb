/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/unary_layer.h"

/* Another name for the same numbers where their order is free or the same; else they are brought
 * into the network's order, c,h,w. */
struct flatten {
    struct unary_layer base;
    struct tensor_shape shape; /* of x */
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct flatten *f = layer;
    return cuda_kernel(kernel_flatten(plan->device->stream, plan->device->storage, f->shape,
                                      f->base.x->data, f->base.y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct flatten *f = layer;
    return cuda_kernel(kernel_unflatten(plan->device->stream, plan->device->storage, f->shape,
                                        f->base.dy->data, f->base.dx->data),
                       err);
}

static bool is_alias(const struct builder *b, const struct node *node)
{
    return b->graph->values[node->input].shape.c == b->graph->values[node->output].shape.c;
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    (void)err;
    ((struct flatten *)object)->shape = cuda_shape(b, node->input);
    return true;
}

static const struct unary_kind flatten = {.size = sizeof(struct flatten),
                                          .is_alias = is_alias,
                                          .prepare = prepare,
                                          .run = run_forward,
                                          .run_backward = run_backward};

const struct layer_kind cuda_layer_flatten = {.unary = &flatten};

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

/* Another name for the same numbers where their order is free or the same; else they are brought
 * into the network's order, c,h,w. */
struct flatten {
    const struct buffer *x, *y, *dy, *dx;
    struct tensor_shape shape; /* in front */
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct flatten *f = layer;
    return cuda_kernel(kernel_flatten(plan->device->stream, plan->device->storage, f->shape,
                                      f->x->data, f->y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct flatten *f = layer;
    return cuda_kernel(kernel_unflatten(plan->device->stream, plan->device->storage, f->shape,
                                        f->dy->data, f->dx->data),
                       err);
}

static bool is_alias(const struct builder *b, const struct node *node)
{
    return b->graph->values[node->input].shape.c == b->graph->values[node->output].shape.c;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct buffer *x = build_value(b, node->input, err);
    if (!x)
        return false;
    if (is_alias(b, node)) {
        b->values[node->output] = x;
        return true;
    }
    struct flatten *f = *layer = build_object(b, sizeof *f, NULL, err);
    if (!f)
        return false;
    f->shape = cuda_shape(b, node->input);
    f->x = x;
    f->y = build_value(b, node->output, err);
    return f->y && build_step(b, node, run_forward, f, err);
}

static bool unflatten(struct builder *b, const struct node *node, struct flatten *f,
                      struct buffer *dy, struct error *err)
{
    struct buffer *dx = gradient_new(b, node->input, err);
    f->dy = dy;
    f->dx = dx;
    return dx && build_step(b, node, run_backward, f, err) &&
           gradient_give(b, node, node->input, dx, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct buffer *dy[2];
    if (!b->graph->values[node->input].wants_grad)
        return true;
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    bool ok = is_alias(b, node) ? gradient_give(b, node, node->input, dy[0], err)
                                : unflatten(b, node, layer, dy[0], err);
    gradient_drop(dy[0]);
    return ok;
}

const struct layer_kind cuda_layer_flatten = {forward, backward};

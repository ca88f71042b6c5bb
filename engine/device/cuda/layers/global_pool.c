/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

struct global_pool {
    const struct buffer *x, *y, *dy, *dx;
    struct tensor_shape shape; /* of x */
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    return cuda_kernel(kernel_global_avgpool(plan->device->stream, plan->device->storage, g->shape,
                                             g->x->data, g->y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    return cuda_kernel(kernel_global_avgpool_backward(plan->device->stream, plan->device->storage,
                                                      g->shape, g->dy->data, g->dx->data),
                       err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct global_pool *g = *layer = build_object(b, sizeof *g, NULL, err);
    if (!g)
        return false;
    g->shape = cuda_shape(b, node->input);
    g->x = build_value(b, node->input, err);
    g->y = g->x ? build_value(b, node->output, err) : NULL;
    return g->y && build_step(b, node, run_forward, g, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct global_pool *g = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_new(b, node->input, err);
    if (!dx)
        return false;
    g->dy = dy[0];
    g->dx = dx;
    if (!build_step(b, node, run_backward, g, err) || !gradient_give(b, node, node->input, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind cuda_layer_global_pool = {forward, backward};

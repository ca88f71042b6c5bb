/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/unary_layer.h"

struct global_pool {
    struct unary_layer base;
    struct tensor_shape shape; /* of x */
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    return cuda_kernel(kernel_global_avgpool(plan->device->stream, plan->device->storage, g->shape,
                                             g->base.x->data, g->base.y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct global_pool *g = layer;
    return cuda_kernel(kernel_global_avgpool_backward(plan->device->stream, plan->device->storage,
                                                      g->shape, g->base.dy->data, g->base.dx->data),
                       err);
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    (void)err;
    ((struct global_pool *)object)->shape = cuda_shape(b, node->input);
    return true;
}

static const struct unary_kind global_avgpool = {.size = sizeof(struct global_pool),
                                                 .prepare = prepare,
                                                 .run = run_forward,
                                                 .run_backward = run_backward};

const struct layer_kind cuda_layer_global_avgpool = {.unary = &global_avgpool};

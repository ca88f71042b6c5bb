/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/add_layer.h"

struct add {
    struct add_layer base;
    struct tensor_shape shape;
    size_t count;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    return cuda_kernel(kernel_add(plan->device->stream, plan->device->storage, a->count,
                                  a->base.left->data, a->base.right->data, a->base.relu,
                                  a->base.sum->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  ACTIVATION_RELU, a->shape, a->base.sum->data,
                                                  a->base.dy->data, a->base.dx->data),
                       err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct add *a = *layer = build_object(b, sizeof *a, NULL, err);
    if (!a)
        return false;
    a->shape = cuda_shape(b, node->output);
    a->count = cuda_count(b, node->output);
    return add_layer_forward(b, node, run_forward, &a->base, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct add *a = layer;
    return add_layer_backward(b, node, run_backward, &a->base, err);
}

const struct layer_kind cuda_layer_add = {.forward = forward, .backward = backward};

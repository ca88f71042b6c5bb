/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

/* An addition with, where fused, the ReLU behind it. Its gradient is both summands' gradient. */
struct add {
    const struct buffer *left, *right, *dy;
    struct buffer *sum, *dx;
    struct tensor_shape shape;
    size_t count;
    bool relu;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    return cuda_kernel(kernel_add(plan->device->stream, plan->device->storage, a->count,
                                  a->left->data, a->right->data, a->relu, a->sum->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  ACTIVATION_RELU, a->shape, a->sum->data,
                                                  a->dy->data, a->dx->data),
                       err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct add *a = *layer = build_object(b, sizeof *a, NULL, err);
    if (!a)
        return false;
    a->left = build_value(b, node->input, err);
    a->right = a->left ? build_value(b, node->residual, err) : NULL;
    a->sum = a->right ? build_value(b, node->output, err) : NULL;
    a->shape = cuda_shape(b, node->output);
    a->count = cuda_count(b, node->output);
    a->relu = node->relu;
    return a->sum && build_step(b, node, run_forward, a, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct add *a = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = dy[0];
    if (node->relu) {
        if (!gradient_is_mine(dx) && !(dx = gradient_new(b, node->output, err)))
            return false;
        a->dy = dy[0];
        a->dx = dx;
        build_use(b, a->sum);
        if (!build_step(b, node, run_backward, a, err))
            return false;
    }
    if (!gradient_give(b, node, node->input, dx, err) ||
        !gradient_give(b, node, node->residual, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind cuda_layer_add = {forward, backward};

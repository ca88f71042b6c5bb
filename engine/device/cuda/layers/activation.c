/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/plan.h"

/* ReLU, sigmoid and tanh where no fused operation took them. All keep their result, from which the
 * backward pass computes the derivative. */
struct activation_layer {
    const struct buffer *x, *y, *dy;
    struct buffer *dx;
    enum activation function;
    struct tensor_shape shape;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation_layer *a = layer;
    return cuda_kernel(kernel_activation(plan->device->stream, plan->device->storage, a->function,
                                         a->shape, a->x->data, NULL, a->y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation_layer *a = layer;
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  a->function, a->shape, a->y->data, a->dy->data,
                                                  a->dx->data),
                       err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct activation_layer *a = *layer = build_object(b, sizeof *a, NULL, err);
    if (!a)
        return false;
    a->x = build_value(b, node->input, err);
    a->y = a->x ? build_value(b, node->output, err) : NULL;
    a->function = node->kind == NET_RELU      ? ACTIVATION_RELU
                  : node->kind == NET_SIGMOID ? ACTIVATION_SIGMOID
                                              : ACTIVATION_TANH;
    a->shape = cuda_shape(b, node->input);
    return a->y && build_step(b, node, run_forward, a, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct activation_layer *a = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_result(b, dy[0], node->input, err);
    if (!dx)
        return false;
    a->dy = dy[0];
    a->dx = dx;
    build_use(b, b->values[node->output]);
    if (!build_step(b, node, run_backward, a, err) || !gradient_give(b, node, node->input, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind cuda_layer_activation = {forward, backward};

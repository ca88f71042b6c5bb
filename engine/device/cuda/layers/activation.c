/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/unary_layer.h"

/* ReLU, leaky ReLU, sigmoid and tanh where no fused operation took them. All keep their result,
 * from which the backward pass computes the derivative. */
struct activation_layer {
    struct unary_layer base;
    enum activation function;
    struct tensor_shape shape;
    float slope; /* leaky ReLU: below zero */
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation_layer *a = layer;
    return cuda_kernel(kernel_activation(plan->device->stream, plan->device->storage, a->function,
                                         a->shape, a->base.x->data, NULL, a->base.y->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation_layer *a = layer;
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  a->function, a->shape, a->base.y->data,
                                                  a->base.dy->data, a->base.dx->data),
                       err);
}

static bool run_leaky_relu(struct plan *plan, void *layer, struct error *err)
{
    const struct activation_layer *a = layer;
    return cuda_kernel(kernel_leaky_relu(plan->device->stream, plan->device->storage, a->slope,
                                         a->shape, a->base.x->data, a->base.y->data),
                       err);
}

static bool run_leaky_relu_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation_layer *a = layer;
    return cuda_kernel(kernel_leaky_relu_backward(plan->device->stream, plan->device->storage,
                                                  a->slope, a->shape, a->base.y->data,
                                                  a->base.dy->data, a->base.dx->data),
                       err);
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    static const enum activation functions[NET_KINDS] = {
        [NET_RELU] = ACTIVATION_RELU,
        [NET_SIGMOID] = ACTIVATION_SIGMOID,
        [NET_TANH] = ACTIVATION_TANH,
    };
    struct activation_layer *a = object;
    a->function = functions[node->kind];
    a->shape = cuda_shape(b, node->input);
    return a->function || error_set(err, ERROR_FAILED, "no kernel for this activation");
}

static bool prepare_leaky_relu(struct builder *b, const struct node *node, void *object,
                               struct error *err)
{
    struct activation_layer *a = object;
    (void)err;
    a->shape = cuda_shape(b, node->input);
    a->slope = (float)b->graph->net->ops[node->op].negative_slope;
    return true;
}

static const struct unary_kind activation = {.size = sizeof(struct activation_layer),
                                             .prepare = prepare,
                                             .run = run_forward,
                                             .run_backward = run_backward,
                                             .keeps_output = true,
                                             .in_place = true},
                               leaky_relu = {.size = sizeof(struct activation_layer),
                                             .prepare = prepare_leaky_relu,
                                             .run = run_leaky_relu,
                                             .run_backward = run_leaky_relu_backward,
                                             .keeps_output = true,
                                             .in_place = true};

const struct layer_kind cuda_layer_relu = {.unary = &activation},
                        cuda_layer_leaky_relu = {.unary = &leaky_relu},
                        cuda_layer_sigmoid = {.unary = &activation},
                        cuda_layer_tanh = {.unary = &activation};

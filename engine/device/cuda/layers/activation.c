/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"
#include "engine/device/plan/unary_layer.h"

/* The functions of single numbers where no fused operation took them. Those whose derivative
 * follows from their result keep that for the backward pass, the others what they were applied to.
 */
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

static bool backward_from(struct plan *plan, const struct activation_layer *a,
                          const struct buffer *kept, struct error *err)
{
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  a->function, a->shape, kept->data,
                                                  a->base.dy->data, a->base.dx->data),
                       err);
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    return backward_from(plan, layer, ((struct activation_layer *)layer)->base.y, err);
}

static bool run_backward_of_input(struct plan *plan, void *layer, struct error *err)
{
    return backward_from(plan, layer, ((struct activation_layer *)layer)->base.x, err);
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
    static const enum activation functions[NET_ALL_KINDS] = {
        [NET_RELU] = ACTIVATION_RELU, [NET_SIGMOID] = ACTIVATION_SIGMOID,
        [NET_TANH] = ACTIVATION_TANH, [NET_GELU] = ACTIVATION_GELU,
        [NET_SILU] = ACTIVATION_SILU, [NET_HARDSWISH] = ACTIVATION_HARDSWISH,
    };
    struct activation_layer *a = object;
    const bool is_tanh = b->graph->net->ops[node->op].gelu == NET_GELU_TANH;
    a->function = is_tanh ? ACTIVATION_GELU_TANH : functions[node->kind];
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
                               of_input = {.size = sizeof(struct activation_layer),
                                           .prepare = prepare,
                                           .run = run_forward,
                                           .run_backward = run_backward_of_input,
                                           .keeps_input = true,
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
                        cuda_layer_tanh = {.unary = &activation},
                        cuda_layer_gelu = {.unary = &of_input},
                        cuda_layer_silu = {.unary = &of_input},
                        cuda_layer_hardswish = {.unary = &of_input};

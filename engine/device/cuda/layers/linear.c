/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/dnn/matmul.h"
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"

/*
 * y = x W^T + bias [ReLU]. W's rows are stored in the order of x, whatever its shape, so x is never
 * rearranged. Logits are made in f32, whatever the storage type.
 */
struct linear {
    struct matmul *forward, *weights, *data;
    const struct buffer *x, *y, *dy;
    struct buffer *masked, *dx;
    struct buffer *workspaces[3], *partials; /* scratch: forward, weights, data; partial sums */
    const void *w;
    const float *bias;
    float *dw, *dbias;
    struct tensor_shape shape; /* of y */
    enum cuda_type result;
    bool relu;
    bool fused; /* the product adds the bias and takes the ReLU */
};

static void release(void *layer)
{
    struct linear *l = layer;
    matmul_destroy(l->forward);
    matmul_destroy(l->weights);
    matmul_destroy(l->data);
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return matmul_run(l->forward, l->x->data, l->w, l->fused ? l->bias : NULL, l->y->data,
                      l->workspaces[0]->data, plan->device->stream, err);
}

static bool run_bias_and_relu(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    cudaStream_t stream = plan->device->stream;
    void *y = l->y->data;
    return cuda_kernel(
        l->relu ? kernel_activation(stream, l->result, ACTIVATION_RELU, l->shape, y, l->bias, y)
                : kernel_bias(stream, l->result, l->shape, y, l->bias, y),
        err);
}

static bool run_mask(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return cuda_kernel(kernel_activation_backward(plan->device->stream, plan->device->storage,
                                                  ACTIVATION_RELU, l->shape, l->y->data,
                                                  l->dy->data, l->masked->data),
                       err);
}

static bool run_bias_gradient(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return cuda_kernel(
        kernel_channel_sums(plan->device->stream, plan->device->storage, l->shape, l->masked->data,
                            (struct sums_memory){l->partials->data, plan->replica->counters},
                            l->dbias),
        err);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return matmul_run(l->weights, l->masked->data, l->x->data, NULL, l->dw, l->workspaces[1]->data,
                      plan->device->stream, err);
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return matmul_run(l->data, l->masked->data, l->w, NULL, l->dx->data, l->workspaces[2]->data,
                      plan->device->stream, err);
}

/* A product of the step being built, with its workspace. */
static bool make_product(struct builder *b, const struct matmul_request *request,
                         struct matmul **out, struct buffer **workspace, struct error *err)
{
    const struct device *device = b->device;
    if (!matmul_create(device->cublaslt, device->blas, request, CUDA_WORKSPACE_LIMIT, out, err))
        return false;
    *workspace = build_scratch(b, matmul_workspace(*out), err);
    return *workspace != NULL;
}

/* With bias and ReLU where the library can; else they are steps of their own. */
static bool make_forward(struct builder *b, struct linear *l, int in, struct error *err)
{
    struct matmul_request request = {.m = b->rows,
                                     .n = l->shape.channels,
                                     .k = in,
                                     .transpose_b = true,
                                     .math = b->device->type,
                                     .type = b->device->storage,
                                     .result = l->result};
    if (l->bias || l->relu) {
        struct error why = ERROR_INIT;
        request.bias = l->bias != NULL;
        request.relu = l->relu;
        l->fused = make_product(b, &request, &l->forward, &l->workspaces[0], &why);
        if (l->fused)
            return true;
        request.bias = request.relu = false;
    }
    return make_product(b, &request, &l->forward, &l->workspaces[0], err);
}

/* What the library does not join to the product. */
static bool build_bias_and_relu(struct builder *b, const struct node *node, struct linear *l,
                                struct error *err)
{
    if (l->fused || (!l->bias && !l->relu))
        return true;
    build_use(b, b->values[node->output]);
    build_label_apart(b, PLAN_FORWARD, "own kernel");
    return build_step(b, node, run_bias_and_relu, l, err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const struct net_op *op = &b->graph->net->ops[node->op];
    const bool logits =
        node->output == b->graph->logits && b->graph->values[node->output].readers == 0;
    struct linear *l = *layer = build_object(b, sizeof *l, release, err);
    if (!l)
        return false;
    l->relu = node->relu;
    l->shape = cuda_shape(b, node->output);
    l->result = logits && !node->relu ? CUDA_F32 : b->device->storage;
    l->w = cuda_weights(b, op->weight);
    l->bias = cuda_param(b, node->bias);
    l->x = build_value(b, node->input, err);
    if (!l->x)
        return false;
    if (l->result != b->device->storage) {
        b->plan->wide_logits = true;
        b->values[node->output] =
            build_buffer(b, cuda_count(b, node->output) * cuda_type_size(l->result), err);
        if (!b->values[node->output])
            return false;
    }
    l->y = build_value(b, node->output, err);
    if (!l->y || !make_forward(b, l, (int)value_row(&b->graph->values[node->input]), err))
        return false;
    build_label(b, PLAN_FORWARD,
                !l->fused  ? "cuBLASLt"
                : !l->relu ? "cuBLASLt + bias"
                : l->bias  ? "cuBLASLt + bias + relu"
                           : "cuBLASLt + relu");
    return build_step(b, node, run_forward, l, err) && build_bias_and_relu(b, node, l, err);
}

static bool build_mask(struct builder *b, const struct node *node, struct linear *l,
                       struct buffer **dy, struct error *err)
{
    l->dy = l->masked = *dy;
    if (!node->relu)
        return true;
    l->masked = gradient_result(b, *dy, node->output, err);
    if (!l->masked)
        return false;
    build_use(b, b->values[node->output]);
    if (l->masked != *dy) {
        gradient_drop(*dy);
        l->masked->holders++;
    }
    *dy = l->masked;
    build_label(b, PLAN_BACKWARD_RELU, "");
    return build_step(b, node, run_mask, l, err);
}

static bool build_bias_gradient(struct builder *b, const struct node *node, struct linear *l,
                                struct error *err)
{
    l->dbias = cuda_grads(b, node->bias);
    if (!l->dbias)
        return true;
    build_use(b, l->masked);
    l->partials = build_scratch(b, kernel_sums_scratch(l->shape), err);
    build_label_apart(b, PLAN_BACKWARD_WEIGHTS, "own kernel");
    return l->partials && build_step(b, node, run_bias_gradient, l, err);
}

static bool build_weights(struct builder *b, const struct node *node, struct linear *l,
                          struct error *err)
{
    const struct matmul_request request = {.m = l->shape.channels,
                                           .n = (int)value_row(&b->graph->values[node->input]),
                                           .k = b->rows,
                                           .transpose_a = true,
                                           .math = b->device->type,
                                           .type = b->device->storage,
                                           .result = CUDA_F32};
    build_use(b, l->masked);
    build_use(b, b->values[node->input]);
    l->dw = cuda_grads(b, b->graph->net->ops[node->op].weight);
    if (!make_product(b, &request, &l->weights, &l->workspaces[1], err))
        return false;
    build_label(b, PLAN_BACKWARD_WEIGHTS, "cuBLASLt");
    return build_step(b, node, run_weights, l, err);
}

static bool build_data(struct builder *b, const struct node *node, struct linear *l,
                       struct error *err)
{
    const struct matmul_request request = {.m = b->rows,
                                           .n = (int)value_row(&b->graph->values[node->input]),
                                           .k = l->shape.channels,
                                           .math = b->device->type,
                                           .type = b->device->storage,
                                           .result = b->device->storage};
    l->dx = gradient_new(b, node->input, err);
    if (!l->dx)
        return false;
    build_use(b, l->masked);
    if (!make_product(b, &request, &l->data, &l->workspaces[2], err))
        return false;
    build_label(b, PLAN_BACKWARD_DATA, "cuBLASLt");
    return build_step(b, node, run_data, l, err) && gradient_give(b, node, node->input, l->dx, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct linear *l = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err) || !build_mask(b, node, l, &dy[0], err) ||
        !build_bias_gradient(b, node, l, err) || !build_weights(b, node, l, err) ||
        (b->graph->values[node->input].wants_grad && !build_data(b, node, l, err)))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind cuda_layer_linear = {.forward = forward, .backward = backward};

/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "engine/device/cuda/dnn/matmul.h"
#include "engine/device/cuda/layers/epilogue.h"
#include "engine/device/cuda/layers/kinds.h"
#include "engine/device/cuda/layers/operands.h"

/*
 * y = x W^T + bias [ReLU]. W's rows are stored in the order of x, whatever its shape, so x is never
 * rearranged. Logits are made in f32, whatever the storage type.
 */
struct linear {
    struct matmul *forward, *weights, *data;
    struct epilogue epilogue;
    const struct buffer *x;
    struct buffer *dx;
    struct buffer *workspaces[3]; /* scratch: forward, weights, data */
    const void *w;
    float *dw;
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
    return matmul_run(l->forward, l->x->data, l->w, l->epilogue.fused ? l->epilogue.bias : NULL,
                      l->epilogue.y->data, l->workspaces[0]->data, plan->device->stream, err);
}

static bool run_weights(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return matmul_run(l->weights, l->epilogue.masked->data, l->x->data, NULL, l->dw,
                      l->workspaces[1]->data, plan->device->stream, err);
}

static bool run_data(struct plan *plan, void *layer, struct error *err)
{
    const struct linear *l = layer;
    return matmul_run(l->data, l->epilogue.masked->data, l->w, NULL, l->dx->data,
                      l->workspaces[2]->data, plan->device->stream, err);
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
    struct epilogue *e = &l->epilogue;
    struct matmul_request request = {.m = b->rows,
                                     .n = e->shape.channels,
                                     .k = in,
                                     .transpose_b = true,
                                     .math = b->device->type,
                                     .type = b->device->storage,
                                     .result = e->type};
    if (e->bias || e->relu) {
        struct error why = ERROR_INIT;
        request.bias = e->bias != NULL;
        request.relu = e->relu;
        e->fused = make_product(b, &request, &l->forward, &l->workspaces[0], &why);
        if (e->fused)
            return true;
        request.bias = request.relu = false;
    }
    return make_product(b, &request, &l->forward, &l->workspaces[0], err);
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    const enum cuda_type storage = b->device->storage;
    const bool logits =
        node->output == b->graph->logits && b->graph->values[node->output].readers == 0;
    struct linear *l = *layer = build_object(b, sizeof *l, release, err);
    char method[64];
    if (!l)
        return false;
    struct epilogue *e = &l->epilogue;
    epilogue_describe(e, b, node, logits && !node->relu ? CUDA_F32 : storage);
    l->w = cuda_weights(b, b->graph->net->ops[node->op].weight);
    l->x = build_value(b, node->input, err);
    if (!l->x)
        return false;
    if (e->type != storage) {
        b->plan->wide_logits = true;
        b->values[node->output] =
            build_buffer(b, cuda_count(b, node->output) * cuda_type_size(e->type), err);
        if (!b->values[node->output])
            return false;
    }
    e->y = build_value(b, node->output, err);
    if (!e->y || !make_forward(b, l, (int)value_row(&b->graph->values[node->input]), err))
        return false;
    snprintf(method, sizeof method, "cuBLASLt%s", epilogue_fused(e));
    build_label(b, PLAN_FORWARD, method);
    return build_step(b, node, run_forward, l, err) && epilogue_forward(b, node, e, err);
}

static bool build_weights(struct builder *b, const struct node *node, struct linear *l,
                          struct error *err)
{
    const struct matmul_request request = {.m = l->epilogue.shape.channels,
                                           .n = (int)value_row(&b->graph->values[node->input]),
                                           .k = b->rows,
                                           .transpose_a = true,
                                           .math = b->device->type,
                                           .type = b->device->storage,
                                           .result = CUDA_F32};
    build_use(b, l->epilogue.masked);
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
                                           .k = l->epilogue.shape.channels,
                                           .math = b->device->type,
                                           .type = b->device->storage,
                                           .result = b->device->storage};
    l->dx = gradient_new(b, node->input, err);
    if (!l->dx)
        return false;
    build_use(b, l->epilogue.masked);
    if (!make_product(b, &request, &l->data, &l->workspaces[2], err))
        return false;
    build_label(b, PLAN_BACKWARD_DATA, "cuBLASLt");
    return build_step(b, node, run_data, l, err) && gradient_give(b, node, node->input, l->dx, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct linear *l = layer;
    if (!epilogue_backward(b, node, &l->epilogue, err) || !build_weights(b, node, l, err) ||
        (b->graph->values[node->input].wants_grad && !build_data(b, node, l, err)))
        return false;
    gradient_drop(l->epilogue.masked);
    return true;
}

const struct layer_kind cuda_layer_linear = {.forward = forward, .backward = backward};

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/primitive.h"
#include "engine/device/cpu/layers/elementwise.h"
#include "engine/device/plan/unary_layer.h"

/*
 * The functions of single numbers where no fused operation took them. Those whose derivative
 * follows from their result keep that for the backward pass, the others what they were applied to.
 * All but the ReLUs are the library's, which has vector exponentials; it works on whole blocks,
 * because with the true number of channels it falls back to its slow reference code. sigmoid(0) is
 * not 0, so the channels that fill the last block are cleared after it.
 */
struct activation {
    struct unary_layer base;
    struct primitive forward, backward; /* not of a ReLU */
    struct value value;
    int rows;
    size_t count;
    float slope; /* leaky ReLU: below zero */
};

static void release(void *layer)
{
    struct activation *a = layer;
    primitive_release(&a->forward);
    primitive_release(&a->backward);
}

static bool run_relu(struct plan *plan, void *layer, struct error *err)
{
    const struct activation *a = layer;
    (void)err;
    elementwise_relu(a->base.x->data, a->base.y->data, a->count, plan->bf16);
    return true;
}

static bool run_relu_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation *a = layer;
    (void)err;
    elementwise_relu_backward(a->base.y->data, a->base.dy->data, a->base.dx->data, a->count,
                              plan->bf16);
    return true;
}

static bool run_leaky_relu(struct plan *plan, void *layer, struct error *err)
{
    const struct activation *a = layer;
    (void)err;
    elementwise_leaky_relu(a->base.x->data, a->slope, a->base.y->data, a->count, plan->bf16);
    return true;
}

static bool run_leaky_relu_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation *a = layer;
    (void)err;
    elementwise_leaky_relu_backward(a->base.y->data, a->base.dy->data, a->slope, a->base.dx->data,
                                    a->count, plan->bf16);
    return true;
}

/* Zero the surplus channels of the last block. */
static void clear_surplus(const struct activation *a, bool bf16)
{
    const int block = a->value.block, used = a->value.shape.c % block;
    const size_t row = value_row(&a->value), pixels = (size_t)value_pixels(&a->value);
    if (used == 0)
        return;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < a->rows; n++) {
        const size_t last = (size_t)(n + 1) * row - pixels * (size_t)block;
        for (size_t i = 0; i < pixels; i++)
            memset(number_at(a->base.y->data, last + i * (size_t)block + (size_t)used, bf16), 0,
                   (size_t)(block - used) * number_size(bf16));
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    struct activation *a = layer;
    if (!primitive_run(plan->device, &a->forward, err))
        return false;
    if (a->value.block > 1)
        clear_surplus(a, plan->bf16);
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct activation *)layer)->backward, err);
}

static bool describe(struct builder *b, const struct node *node, desc_t data,
                     dnnl_primitive_desc_t hint, dnnl_primitive_desc_t *out, struct error *err)
{
    static const struct eltwise functions[NET_ALL_KINDS] = {
        [NET_SIGMOID] = {.algorithm = dnnl_eltwise_logistic_use_dst_for_bwd},
        [NET_TANH] = {.algorithm = dnnl_eltwise_tanh_use_dst_for_bwd},
        [NET_GELU] = {.algorithm = dnnl_eltwise_gelu_erf},
        [NET_SILU] = {dnnl_eltwise_swish, 1, 0},
        [NET_HARDSWISH] = {dnnl_eltwise_hardswish, 1.0F / 6, 0.5F},
    };
    static const struct eltwise gelu_tanh = {.algorithm = dnnl_eltwise_gelu_tanh};
    const bool is_tanh = b->graph->net->ops[node->op].gelu == NET_GELU_TANH;
    const struct eltwise *f = is_tanh ? &gelu_tanh : &functions[node->kind];
    if (f->algorithm == dnnl_alg_kind_undef)
        return error_set(err, ERROR_FAILED, "no algorithm of oneDNN for this activation");
    return dnnl_check(compat_eltwise(out, b->device->engine, f, data, hint, b->device->attr),
                      "activation", err);
}

static bool prepare_loop(struct builder *b, const struct node *node, void *object,
                         struct error *err)
{
    struct activation *a = object;
    (void)err;
    a->value = b->graph->values[node->input];
    a->rows = b->rows;
    a->count = (size_t)b->rows * value_row(&a->value);
    a->slope = (float)b->graph->net->ops[node->op].negative_slope;
    return true;
}

static bool prepare(struct builder *b, const struct node *node, void *object, struct error *err)
{
    struct activation *a = object;
    dnnl_primitive_desc_t desc = NULL;
    prepare_loop(b, node, object, err);
    desc_t data = value_desc(b, &a->value, true);
    bool ok = (data || error_memory(err, "layout of an activation")) &&
              describe(b, node, data, NULL, &desc, err) &&
              primitive_make(b, &a->forward, desc, err) &&
              primitive_read(b, &a->forward, DNNL_ARG_SRC, data, a->base.x, err) &&
              primitive_write(b, &a->forward, DNNL_ARG_DST, data, a->base.y, err);
    dnnl_primitive_desc_destroy(desc);
    compat_desc_free(data);
    return ok;
}

/* `kept`, of the forward pass, is called `argument` there. */
static bool bind_backward(struct builder *b, const struct node *node, struct activation *a,
                          int argument, struct buffer *kept, struct error *err)
{
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    desc_t data = value_desc(b, &a->value, true);
    bool ok = (data || error_memory(err, "layout of an activation")) &&
              describe(b, node, data, NULL, &hint, err) &&
              describe(b, node, data, hint, &desc, err) &&
              primitive_make(b, &a->backward, desc, err) &&
              primitive_read(b, &a->backward, argument, data, kept, err) &&
              primitive_read(b, &a->backward, DNNL_ARG_DIFF_DST, data, a->base.dy, err) &&
              primitive_write(b, &a->backward, DNNL_ARG_DIFF_SRC, data, a->base.dx, err);
    dnnl_primitive_desc_destroy(desc);
    dnnl_primitive_desc_destroy(hint);
    compat_desc_free(data);
    return ok;
}

static bool prepare_backward(struct builder *b, const struct node *node, void *object,
                             struct error *err)
{
    struct activation *a = object;
    return bind_backward(b, node, a, DNNL_ARG_DST, a->base.y, err);
}

static bool prepare_backward_of_input(struct builder *b, const struct node *node, void *object,
                                      struct error *err)
{
    struct activation *a = object;
    return bind_backward(b, node, a, DNNL_ARG_SRC, a->base.x, err);
}

static const struct unary_kind relu = {.size = sizeof(struct activation),
                                       .release = release,
                                       .prepare = prepare_loop,
                                       .run = run_relu,
                                       .run_backward = run_relu_backward,
                                       .keeps_output = true,
                                       .in_place = true},
                               leaky_relu = {.size = sizeof(struct activation),
                                             .release = release,
                                             .prepare = prepare_loop,
                                             .run = run_leaky_relu,
                                             .run_backward = run_leaky_relu_backward,
                                             .keeps_output = true,
                                             .in_place = true},
                               function = {.size = sizeof(struct activation),
                                           .release = release,
                                           .prepare = prepare,
                                           .prepare_backward = prepare_backward,
                                           .run = run_forward,
                                           .run_backward = run_backward,
                                           .keeps_output = true,
                                           .in_place = true},
                               function_of_input = {.size = sizeof(struct activation),
                                                    .release = release,
                                                    .prepare = prepare,
                                                    .prepare_backward = prepare_backward_of_input,
                                                    .run = run_forward,
                                                    .run_backward = run_backward,
                                                    .keeps_input = true,
                                                    .in_place = true};

const struct layer_kind layer_relu = {.unary = &relu}, layer_leaky_relu = {.unary = &leaky_relu};
const struct layer_kind layer_sigmoid = {.unary = &function}, layer_tanh = {.unary = &function};
const struct layer_kind layer_gelu = {.unary = &function_of_input},
                        layer_silu = {.unary = &function_of_input},
                        layer_hardswish = {.unary = &function_of_input};

/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/primitive.h"
#include "engine/device/cpu/layers/elementwise.h"
#include "engine/device/cpu/layers/kinds.h"

/*
 * ReLU, sigmoid and tanh where no fused operation took them. All keep their result, from which the
 * backward pass computes the derivative. Sigmoid and tanh are the library's, which has vector
 * exponentials; it works on whole blocks, because with the true number of channels it falls back to
 * its slow reference code. sigmoid(0) is not 0, so the channels that fill the last block are
 * cleared behind it.
 */
struct activation {
    struct primitive forward, backward;
    const struct buffer *x, *y, *dy;
    struct buffer *dx;
    struct value value;
    int rows;
    size_t count;
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
    (void)plan;
    (void)err;
    elementwise_relu(a->x->data, a->y->data, a->count);
    return true;
}

static bool run_relu_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct activation *a = layer;
    (void)plan;
    (void)err;
    elementwise_relu_backward(a->y->data, a->dy->data, a->dx->data, a->count);
    return true;
}

/* Zero the surplus channels of the last block. */
static void clear_surplus(const struct activation *a)
{
    const int block = a->value.block, used = a->value.shape.c % block;
    const size_t row = value_row(&a->value), pixels = (size_t)value_pixels(&a->value);
    if (used == 0)
        return;
#pragma omp parallel for schedule(static)
    for (int n = 0; n < a->rows; n++) {
        float *last = (float *)a->y->data + (size_t)(n + 1) * row - pixels * (size_t)block;
        for (size_t i = 0; i < pixels; i++)
            for (int c = used; c < block; c++)
                last[i * (size_t)block + (size_t)c] = 0;
    }
}

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    struct activation *a = layer;
    if (!primitive_run(plan->device, &a->forward, err))
        return false;
    if (a->value.block > 1)
        clear_surplus(a);
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    return primitive_run(plan->device, &((struct activation *)layer)->backward, err);
}

static dnnl_alg_kind_t algorithm(enum net_kind kind)
{
    return kind == NET_TANH ? dnnl_eltwise_tanh_use_dst_for_bwd
                            : dnnl_eltwise_logistic_use_dst_for_bwd;
}

static bool make_forward(struct builder *b, const struct node *node, struct activation *a,
                         struct buffer *x, struct buffer *y, struct error *err)
{
    dnnl_primitive_desc_t desc = NULL;
    desc_t data = value_desc(&b->graph->values[node->input], b->rows, true);
    if (!data)
        return error_memory(err, "layout of an activation");
    bool ok = dnnl_check(compat_eltwise(&desc, b->device->engine, algorithm(node->kind), data, NULL,
                                        b->device->attr),
                         "activation", err);
    if (ok) {
        ok = primitive_make(b, &a->forward, desc, err) &&
             primitive_bind(b, &a->forward, DNNL_ARG_SRC, data, x, err) &&
             primitive_bind(b, &a->forward, DNNL_ARG_DST, data, y, err);
        dnnl_primitive_desc_destroy(desc);
    }
    compat_desc_free(data);
    return ok;
}

static bool make_backward(struct builder *b, const struct node *node, struct activation *a,
                          struct buffer *dy, struct buffer *dx, struct error *err)
{
    dnnl_primitive_desc_t hint = NULL, desc = NULL;
    dnnl_alg_kind_t kind = algorithm(node->kind);
    desc_t data = value_desc(&b->graph->values[node->input], b->rows, true);
    if (!data)
        return error_memory(err, "layout of an activation");
    bool ok =
        dnnl_check(compat_eltwise(&hint, b->device->engine, kind, data, NULL, b->device->attr),
                   "activation", err) &&
        dnnl_check(compat_eltwise(&desc, b->device->engine, kind, data, hint, b->device->attr),
                   "activation", err) &&
        primitive_make(b, &a->backward, desc, err) &&
        primitive_bind(b, &a->backward, DNNL_ARG_DST, data, b->values[node->output], err) &&
        primitive_bind(b, &a->backward, DNNL_ARG_DIFF_DST, data, dy, err) &&
        primitive_bind(b, &a->backward, DNNL_ARG_DIFF_SRC, data, dx, err);
    dnnl_primitive_desc_destroy(desc);
    dnnl_primitive_desc_destroy(hint);
    compat_desc_free(data);
    return ok;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct activation *a = *layer = build_object(b, sizeof *a, release, err);
    struct buffer *x = a ? build_value(b, node->input, err) : NULL;
    struct buffer *y = x ? build_value(b, node->output, err) : NULL;
    if (!y)
        return false;
    a->x = x;
    a->y = y;
    a->value = b->graph->values[node->input];
    a->rows = b->rows;
    a->count = (size_t)b->rows * value_row(&a->value);
    if (node->kind == NET_RELU)
        return build_step(b, node, run_relu, a, err);
    return make_forward(b, node, a, x, y, err) && build_step(b, node, run_forward, a, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct activation *a = layer;
    struct buffer *dy[2];
    if (!gradient_take(b, node, node->output, 1, dy, err))
        return false;
    struct buffer *dx = gradient_result(b, dy[0], node->input, err);
    if (!dx)
        return false;
    a->dy = dy[0];
    a->dx = dx;
    build_use(b, b->values[node->output]);
    if (node->kind != NET_RELU && !make_backward(b, node, a, dy[0], dx, err))
        return false;
    if (!build_step(b, node, node->kind == NET_RELU ? run_relu_backward : run_backward, a, err) ||
        !gradient_give(b, node, node->input, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

const struct layer_kind layer_activation = {forward, backward};

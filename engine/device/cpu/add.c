/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/elementwise.h"
#include "engine/device/cpu/plan.h"

/* An addition with, where fused, the ReLU behind it. Its gradient is both summands' gradient. */
struct add {
    const struct buffer *left, *right, *dy;
    struct buffer *sum, *dx;
    size_t count;
    bool relu;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    (void)plan;
    (void)err;
    elementwise_add(a->left->data, a->right->data, a->relu, a->sum->data, a->count);
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    (void)plan;
    (void)err;
    elementwise_relu_backward(a->sum->data, a->dy->data, a->dx->data, a->count);
    return true;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct add *a = *layer = build_object(b, sizeof *a, NULL, err);
    if (!a)
        return false;
    a->left = build_value(b, node->input, err);
    a->right = a->left ? build_value(b, node->residual, err) : NULL;
    a->sum = a->right ? build_value(b, node->output, err) : NULL;
    a->count = (size_t)b->rows * value_row(&b->graph->values[node->output]);
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

const struct layer_kind layer_add = {forward, backward};

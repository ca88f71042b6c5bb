/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/add_layer.h"

bool add_layer_forward(struct builder *b, const struct node *node, step_function *run,
                       struct add_layer *a, struct error *err)
{
    a->left = build_value(b, node->input, err);
    a->right = a->left ? build_value(b, node->residual, err) : NULL;
    a->sum = a->right ? build_value(b, node->output, err) : NULL;
    a->relu = node->relu;
    return a->sum && build_step(b, node, run, a, err);
}

bool add_layer_backward(struct builder *b, const struct node *node, step_function *run,
                        struct add_layer *a, struct error *err)
{
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
        if (!build_step(b, node, run, a, err))
            return false;
    }
    if (!gradient_give(b, node, node->input, dx, err) ||
        !gradient_give(b, node, node->residual, dx, err))
        return false;
    gradient_drop(dy[0]);
    return true;
}

/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/core/kinds.h"
#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/layers/elementwise.h"
#include "engine/device/plan/add_layer.h"

struct add {
    struct add_layer base;
    size_t count;
};

static bool run_forward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    (void)err;
    elementwise_add(a->base.left->data, a->base.right->data, a->base.relu, a->base.sum->data,
                    a->count, plan->bf16);
    return true;
}

static bool run_backward(struct plan *plan, void *layer, struct error *err)
{
    const struct add *a = layer;
    (void)err;
    elementwise_relu_backward(a->base.sum->data, a->base.dy->data, a->base.dx->data, a->count,
                              plan->bf16);
    return true;
}

static bool forward(struct builder *b, const struct node *node, void **layer, struct error *err)
{
    struct add *a = *layer = build_object(b, sizeof *a, NULL, err);
    if (!a)
        return false;
    a->count = (size_t)b->rows * value_row(&b->graph->values[node->output]);
    return add_layer_forward(b, node, run_forward, &a->base, err);
}

static bool backward(struct builder *b, const struct node *node, void *layer, struct error *err)
{
    struct add *a = layer;
    return add_layer_backward(b, node, run_backward, &a->base, err);
}

const struct layer_kind layer_add = {.forward = forward, .backward = backward};

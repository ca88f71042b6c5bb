/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/builder.h"

/*
 * How additions are built, on all devices: one with, where fused, the ReLU after it. Its gradient
 * is both summands' gradient, so that without a ReLU there is no backward step at all.
 */
struct add_layer {
    const struct buffer *left, *right, *dy;
    struct buffer *sum, *dx; /* dx: dy where the sum is above zero, else 0 */
    bool relu;
};

/* `run` is given `a`, which a backend has at the front of its own object: sum = left + right,
 * then the ReLU. */
bool add_layer_forward(struct builder *b, const struct node *node, step_function *run,
                       struct add_layer *a, struct error *err);
/* `run` makes dx from dy and the sum. */
bool add_layer_backward(struct builder *b, const struct node *node, step_function *run,
                        struct add_layer *a, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/pass/plan.h"

/*
 * What follows the product of a linear layer or convolution: y = [ReLU](product + bias). The layer
 * sets `fused` where its library does that within the product; else it is a step of its own.
 */
struct epilogue {
    const struct buffer *y, *dy;
    struct buffer *masked; /* the gradient of y before the ReLU, which the product's passes read */
    struct buffer *partials; /* scratch of the bias's gradient */
    const float *bias;       /* NULL: none */
    float *dbias;
    struct tensor_shape shape; /* of y */
    enum cuda_type type;       /* of y */
    bool relu, fused;
};

/* The shape, bias and ReLU of a node whose result is of `type`. */
void epilogue_describe(struct epilogue *e, const struct builder *b, const struct node *node,
                       enum cuda_type type);
/* The part that is fused with the product, to be appended to the name of a method; "" if none. */
const char *epilogue_fused(const struct epilogue *e);

/* Adds the steps after the forward product, which need `y`. */
bool epilogue_forward(struct builder *b, const struct node *node, struct epilogue *e,
                      struct error *err);
/* Takes the gradient of the node and adds the steps before the products of the backward pass. They
 * read `masked`, which the layer then drops. */
bool epilogue_backward(struct builder *b, const struct node *node, struct epilogue *e,
                       struct error *err);

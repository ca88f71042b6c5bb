/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "engine/net/net.h"

/*
 * One pass over a network's operations makes the composites worth computing in one go:
 *
 *   conv | linear | add            -> ReLU
 *   batchnorm [-> add] -> ReLU
 *
 * and finds the convolution biases that need no work of their own: one before a BatchNorm is
 * cancelled by the mean (it shows in the running mean alone, and its gradient is zero), one on the
 * other side of a fused addition is part of the BatchNorm's shift and shares beta's gradient.
 * Everything that fits no pattern stays an operation by itself. Knows nothing of devices.
 */

struct fused_op {
    enum net_kind kind; /* of the leading operation */
    int op;             /* the leading operation: geometry, parameters, name */
    int input;          /* tensor */
    int residual;       /* tensor: second summand (add, batchnorm + add + ReLU), or NET_NONE */
    int output;         /* tensor */
    bool relu;          /* ends in a ReLU */
    /* indices of parameters, or NET_NONE */
    int bias;          /* that conv or linear adds itself */
    int input_bias;    /* batchnorm: bias of the convolution before it, left out there */
    int residual_bias; /* batchnorm with residual: bias of the convolution that makes it */
};

struct fused {
    int count;
    struct fused_op *ops; /* in an order of the forward pass */
};

/* Release with fused_free. Fails only when memory runs out. */
bool fuse(const struct net *net, struct fused *out, struct error *err);
void fused_free(struct fused *fused);

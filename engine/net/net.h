/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/net/operation.h"

/*
 * A network as data: an array of operations on tensors, in the order of the forward pass. It knows
 * nothing of devices, batches or memory. Shapes are per row.
 */

/*
 * A tensor between operations. Tensor 0 is the network's input. Tensors[output] holds the logits
 * (classes,1,1). Softmax and cross-entropy belong to the training step, not to the network.
 */
struct net_tensor {
    struct net_shape shape;
    int producer; /* operation that writes it; -1 for the input */
    int readers;  /* how many operations read it */
};

enum net_role {
    NET_WEIGHT,       /* of conv or linear: initialised by the init rule */
    NET_BIAS,         /* of conv or linear */
    NET_BN_WEIGHT,    /* gamma of batchnorm or groupnorm, starts at 1 */
    NET_BN_BIAS,      /* beta of the same, starts at 0 */
    NET_RUNNING_MEAN, /* starts at 0; not trained */
    NET_RUNNING_VAR,  /* starts at 1; not trained */
};

/*
 * A named array of numbers. `offset` is its place in the canonical arena: all params one after the
 * other in module order (PyTorch's state_dict order), row-major, without padding. The I64
 * `num_batches_tracked` of a BatchNorm is no param: it is one counter for the whole network.
 */
struct net_param {
    char *name; /* "resnet_block2.0.conv1.weight" */
    enum net_role role;
    int op;   /* operation it belongs to */
    int ndim; /* 1, 2 or 4 */
    int dims[4];
    size_t count, offset;
    int fan_in; /* conv: c*kh*kw of the input; linear: inputs; else 0 */
};

#define NET_MOST_NORMALIZED 16   /* channels */
#define NET_LEAST_STD       1e-6 /* of a channel that is divided by it */
#define NET_MOST_MEAN       1e6  /* of a mean or std, either sign */

struct net {
    char *name;   /* "resnet18" */
    char *source; /* file it was read from */
    struct net_shape input;
    int classes;
    /* Input normalisation, per channel: x = (pixel/255 - mean[c]) / std[c]. */
    int mean_count, std_count; /* 0 (no normalisation), 1 (for every channel) or input.c */
    float mean[NET_MOST_NORMALIZED], std[NET_MOST_NORMALIZED];
    /* They are those of the training rows: none until these, or a file of weights that was trained
     * with them, have been read. */
    bool mean_of_data, std_of_data;
    int output; /* tensor with the logits */
    int op_count, tensor_count, param_count;
    struct net_op *ops;
    struct net_tensor *tensors;
    struct net_param *params;
    size_t value_count;     /* numbers in the canonical arena, running statistics included */
    size_t trainable_count; /* numbers the optimizer changes: "params" of the run event */
};

void net_free(struct net *net);

/*
 * Floating point operations for one row, counted as published figures are: 2 for each multiply-add
 * of conv and linear in the forward pass, nothing for the rest (0.1 % of ResNet-18). Training costs
 * three times as much: forward, gradient of the data, gradient of the weights.
 */
double net_op_flops(const struct net *net, int op);
double net_forward_flops(const struct net *net);
double net_training_flops(const struct net *net);

bool net_is_trained(const struct net_param *param); /* false for running statistics */

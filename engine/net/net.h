/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_NET_NET_H
#define DPARTUI_ENGINE_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A network as data: an array of plain operations over tensors, in the order of the forward pass.
 * It knows nothing of devices, batches or memory. Shapes are per row.
 */

enum net_kind {
    NET_CONV,
    NET_BATCHNORM,
    NET_RELU,
    NET_SIGMOID,
    NET_TANH,
    NET_MAXPOOL,
    NET_AVGPOOL, /* divides by the whole window, padding counted, as PyTorch's default does */
    NET_GLOBAL_AVGPOOL, /* c,h,w -> c,1,1 */
    NET_LINEAR,         /* flattens its input in c,h,w order if it is not flat already */
    NET_FLATTEN,        /* c,h,w -> c*h*w,1,1 in that order */
    NET_ADD,            /* inputs[0] + inputs[1]: the end of a residual unit */
    NET_DROPOUT, /* kept values are scaled by 1/(1-p) when training; identity when evaluating */
};

struct net_shape {
    int c, h, w;
};

static inline size_t net_shape_size(struct net_shape s)
{
    return (size_t)s.c * (size_t)s.h * (size_t)s.w;
}

/*
 * A tensor between operations. Tensor 0 is the network's input. Tensors[output] holds the logits
 * (classes,1,1). Softmax and cross-entropy belong to the training step, not to the network.
 */
struct net_tensor {
    struct net_shape shape;
    int producer; /* operation that writes it; -1 for the input */
    int readers;  /* how many operations read it */
};

#define NET_NONE (-1)

struct net_op {
    enum net_kind kind;
    char *name; /* dotted, as in PyTorch ("resnet_block2.0.conv1"); "" where nothing is named */
    int line;   /* in the model file, for messages */
    int inputs[2];
    int output;
    /* NET_CONV, pools: square or not; pads are top/left and bottom/right alike */
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    /* indices into params, NET_NONE where absent */
    int weight, bias;              /* conv (OIHW), linear ([out,in]), batchnorm (gamma, beta) */
    int running_mean, running_var; /* batchnorm */
    double eps, momentum;          /* batchnorm: 1e-5, 0.1 */
    double p;                      /* dropout: share of values dropped */
};

enum net_role {
    NET_WEIGHT,       /* of conv or linear: initialised by the init rule */
    NET_BIAS,         /* of conv or linear */
    NET_BN_WEIGHT,    /* gamma, starts at 1 */
    NET_BN_BIAS,      /* beta, starts at 0 */
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

struct net {
    char *name;   /* "resnet18" */
    char *source; /* file it was read from */
    struct net_shape input;
    int classes;
    /* Input normalisation, per channel: x = (pixel/255 - mean[c]) / std[c]. */
    int mean_count, std_count; /* 0 (no normalisation), 1 (for every channel) or input.c */
    float mean[16], std[16];
    int output; /* tensor with the logits */
    int op_count, tensor_count, param_count;
    struct net_op *ops;
    struct net_tensor *tensors;
    struct net_param *params;
    size_t value_count;     /* numbers in the canonical arena, running statistics included */
    size_t trainable_count; /* numbers the optimizer changes: "params" of the run event */
};

/*
 * Read a model description (dpartui-model.5) and lay it out for inputs of `input` and `classes`
 * outputs; a model whose file fixes its own input (its `input` setting) must agree. ERROR_USAGE
 * names file, line and what is wrong. `path` is a file; see paths_find_model.
 */
bool net_load(const char *path, struct net_shape input, int classes, struct net **out,
              struct error *err);
/* As net_load for data not known yet: the input and classes that the file itself gives. */
bool net_load_default(const char *path, struct net **out, struct error *err);
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
const char *net_kind_name(enum net_kind kind);      /* "conv", ... as in model files */

#endif

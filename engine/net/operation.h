/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
 * The operations of networks: X(kind, name as in model files). The reader of model files, the
 * builder of networks, the lowering for devices, the layers of each backend and the reference of
 * the tests are made from this list, so that an operation that one of them lacks does not compile
 * or link, and the message names it.
 */
#define NET_OPERATIONS(X)                                                                          \
    X(NET_CONV, conv)                                                                              \
    X(NET_BATCHNORM, batchnorm)                                                                    \
    X(NET_GROUPNORM, groupnorm) /* of the channels of a group and all pixels, row by row */        \
    X(NET_RELU, relu)                                                                              \
    X(NET_LEAKY_RELU, leaky_relu)                                                                  \
    X(NET_SIGMOID, sigmoid)                                                                        \
    X(NET_TANH, tanh)                                                                              \
    X(NET_GELU, gelu)                                                                              \
    X(NET_SILU, silu)           /* x * sigmoid(x) */                                               \
    X(NET_HARDSWISH, hardswish) /* x * min(max(x + 3, 0), 6) / 6 */                                \
    X(NET_MAXPOOL, maxpool)                                                                        \
    X(NET_AVGPOOL, avgpool)                                                                        \
    X(NET_GLOBAL_AVGPOOL, global_avgpool) /* c,h,w -> c,1,1 */                                     \
    X(NET_LINEAR, linear)                 /* flattens its input in c,h,w order */                  \
    X(NET_FLATTEN, flatten)               /* c,h,w -> c*h*w,1,1 in that order */                   \
    X(NET_ADD, add)                       /* of two tensors: the end of a residual unit */         \
    X(NET_DROPOUT, dropout) /* scales what it keeps by 1/(1-p); in evaluation the identity */

/* What slices of networks have besides (slice.h), and model files do not. */
#define NET_SLICE_OPERATIONS(X)                                                                    \
    X(NET_GATHER, gather)           /* all channels, from those that each slice has */             \
    X(NET_GATHER_ROWS, gather_rows) /* the mini-batch, from the rows that each slice has */

#define NET_KIND(kind, name) kind,
enum net_kind { NET_OPERATIONS(NET_KIND) NET_SLICE_OPERATIONS(NET_KIND) };
#undef NET_KIND

#define NET_COUNT(kind, name) +1
enum {
    NET_KINDS = NET_OPERATIONS(NET_COUNT),
    NET_ALL_KINDS = NET_KINDS NET_SLICE_OPERATIONS(NET_COUNT)
};
#undef NET_COUNT

struct net_shape {
    int c, h, w;
};

static inline size_t net_shape_size(struct net_shape s)
{
    return (size_t)s.c * (size_t)s.h * (size_t)s.w;
}

#define NET_NONE (-1)

#define NET_MAX_SIZE 1000000 /* channels and outputs of a layer, and groups of them */

/* How gelu computes x * P(X <= x) of the standard normal distribution. */
enum net_gelu { NET_GELU_EXACT, NET_GELU_TANH };

/* One operation of a network. Settings that its kind does not have are zero. */
struct net_op {
    enum net_kind kind;
    char *name; /* dotted, as in PyTorch ("resnet_block2.0.conv1"); "" where nothing is named */
    int line;   /* in the model file, for messages */
    int inputs[2], output; /* tensors; inputs[1] is NET_NONE for operations on one */
    int origin;            /* its place in the network, of a slice in the whole one, which random
                            * numbers depend on; of a gather that of the operation before it */
    int outputs;           /* conv, gather: channels; linear: numbers */
    int first;             /* gather: which of them is the input's first; dropout: which channel of
                            * the whole network's value is */
    bool parts;            /* gathers: the slices' gradients of the output are parts of it */
    bool global_batch;     /* of a slice that gathers rows: it computes those of all slices */
    bool has_bias;         /* conv, linear */
    /* Windows of conv and pools: square or not; pads are top/left and bottom/right alike. */
    union {
        int kernel[2];
        struct {
            int kernel_h, kernel_w;
        };
    };
    union {
        int stride[2];
        struct {
            int stride_h, stride_w;
        };
    };
    union {
        int pad[2];
        struct {
            int pad_h, pad_w;
        };
    };
    /* conv: how far apart the window's numbers are read; 1: side by side. */
    union {
        int dilation[2];
        struct {
            int dilation_h, dilation_w;
        };
    };
    bool count_include_pad; /* avgpool: divides by the whole window, padding included */
    /* conv, groupnorm: channels go into so many, neighbours together. Each of a convolution makes
     * its share of the output from its share of the input. */
    int groups;
    double eps, momentum;  /* batchnorm; eps: groupnorm */
    double p;              /* dropout: share of values dropped */
    double negative_slope; /* leaky_relu */
    enum net_gelu gelu;    /* gelu */
    /* Indices into the network's params, NET_NONE where absent. */
    int weight, bias; /* conv (OIHW), linear ([out,in]), batchnorm and groupnorm (gamma, beta) */
    int running_mean, running_var; /* batchnorm */
};

/* How an operation moves numbers: which layouts in memory a device may give its values. */
enum net_access {
    NET_ANY_ORDER,     /* element by element, in whatever order they lie */
    NET_SAME_LAYOUT,   /* by channels: its output is laid out as its inputs, which agree */
    NET_ALL_CHANNELS,  /* reads all channels of a pixel: convolution */
    NET_ALL_NUMBERS,   /* a vector from all numbers in any order, as its weights can be permuted */
    NET_PIXELS_GONE,   /* a vector with one number per channel */
    NET_SHAPE_CHANGED, /* the same numbers in c,h,w order under another shape */
};

enum net_setting_type {
    NET_SETTING_SIZE,  /* int: a whole number or the word "classes"; required */
    NET_SETTING_COUNT, /* int: a whole number; required where `preset` is NAN */
    NET_SETTING_PAIR,  /* int[2]: a number or [down, across]; required where `preset` is NAN */
    NET_SETTING_BOOL,
    NET_SETTING_NUMBER, /* double from low to high */
    NET_SETTING_WORD,   /* enum: the place of a word in `words`, the first unless given */
};

/* A setting of a layer in model files. */
struct net_setting {
    const char *key;
    enum net_setting_type type;
    size_t offset; /* in struct net_op */
    double low, high, preset;
    const char *words; /* separated by blanks */
};

#define NET_MOST_SETTINGS 7

struct net;

/* What is known of a kind of operation, apart from how it is computed. */
struct net_operation {
    int inputs; /* 1 or 2; model files name those on one tensor */
    enum net_access access;
    bool takes_relu; /* a ReLU that alone reads its result may become part of it */
    struct net_setting settings[NET_MOST_SETTINGS + 1]; /* up to one without a key */
    /* The shape of the output; may complete the settings. NULL: that of the input. *err says what
     * is wrong with the shape. */
    bool (*shape)(const struct net *net, struct net_op *op, struct net_shape *out,
                  struct error *err);
    /* Of one row: net_op_flops. NULL: none are counted. */
    double (*flops)(const struct net_op *op, struct net_shape in, struct net_shape out);
    /* Give the operation `index` its params; `file` names the model in messages. NULL: it has
     * none. */
    bool (*params)(struct net *net, const char *file, int index, struct error *err);
};

const struct net_operation *net_operation(enum net_kind kind);
const char *net_kind_name(enum net_kind kind); /* "conv", ... as in model files */

/* SPDX-License-Identifier: MIT */
#include "engine/net/operation.h"

#include <math.h>

#include "base/text.h"
#include "engine/net/net.h"
#include "engine/net/params.h"

#define MOST_WINDOW 65535 /* kernel, stride, padding and dilation */

/* How many places a window over `span` numbers has along one side; 0: none, it does not fit. */
static int window_places(int size, long span, int stride, int pad)
{
    const long room = size + 2L * pad - span;
    return room < 0 ? 0 : (int)(room / stride + 1);
}

/* The numbers that a window spans along side 0 or 1, those between dilated ones included: up to
 * MOST_WINDOW squared, which is more than an int holds. */
static long window_span(const struct net_op *op, int side)
{
    return (long)op->dilation[side] * (op->kernel[side] - 1) + 1;
}

static bool window_shape(const struct net *net, const struct net_op *op, int channels,
                         struct net_shape *out, struct error *err)
{
    const struct net_shape in = net->tensors[op->inputs[0]].shape;
    const long span_h = window_span(op, 0), span_w = window_span(op, 1);
    out->c = channels;
    out->h = window_places(in.h, span_h, op->stride_h, op->pad_h);
    out->w = window_places(in.w, span_w, op->stride_w, op->pad_w);
    return (out->h > 0 && out->w > 0) ||
           error_set(err, ERROR_USAGE,
                     "the %ldx%ld window does not fit into its input of %dx%d with padding (the "
                     "network's input is %dx%dx%d)",
                     span_h, span_w, in.h + 2 * op->pad_h, in.w + 2 * op->pad_w, net->input.c,
                     net->input.h, net->input.w);
}

static bool conv_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                       struct error *err)
{
    const int channels = net->tensors[op->inputs[0]].shape.c;
    if (channels % op->groups || op->outputs % op->groups)
        return error_set(
            err, ERROR_USAGE,
            "%d input channel%s and %d output channel%s cannot both be divided into %d "
            "equal groups",
            channels, plural(channels), op->outputs, plural(op->outputs), op->groups);
    return window_shape(net, op, op->outputs, out, err);
}

static bool pool_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                       struct error *err)
{
    for (int i = 0; i < 2; i++) {
        op->stride[i] = op->stride[i] ? op->stride[i] : op->kernel[i];
        op->dilation[i] = 1;
    }
    if (op->kind == NET_AVGPOOL && op->pad_h == 0 && op->pad_w == 0)
        op->count_include_pad = true; /* both are the same then */
    if (2 * op->pad_h > op->kernel_h || 2 * op->pad_w > op->kernel_w)
        return error_set(err, ERROR_USAGE, "padding %dx%d is more than half of the %dx%d window",
                         op->pad_h, op->pad_w, op->kernel_h, op->kernel_w);
    return window_shape(net, op, net->tensors[op->inputs[0]].shape.c, out, err);
}

static bool groupnorm_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                            struct error *err)
{
    *out = net->tensors[op->inputs[0]].shape;
    return out->c % op->groups == 0 ||
           error_set(err, ERROR_USAGE, "its %d channel%s cannot be divided into %d equal groups",
                     out->c, plural(out->c), op->groups);
}

static bool global_avgpool_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                                 struct error *err)
{
    (void)err;
    *out = (struct net_shape){net->tensors[op->inputs[0]].shape.c, 1, 1};
    return true;
}

static bool linear_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                         struct error *err)
{
    (void)net;
    (void)err;
    *out = (struct net_shape){op->outputs, 1, 1};
    return true;
}

static bool flatten_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                          struct error *err)
{
    (void)err;
    *out = (struct net_shape){(int)net_shape_size(net->tensors[op->inputs[0]].shape), 1, 1};
    return true;
}

static bool gather_shape(const struct net *net, struct net_op *op, struct net_shape *out,
                         struct error *err)
{
    (void)err;
    *out = net->tensors[op->inputs[0]].shape;
    out->c = op->outputs;
    return true;
}

static double conv_flops(const struct net_op *op, struct net_shape in, struct net_shape out)
{
    return 2.0 * (double)net_shape_size(out) * (in.c / op->groups) * op->kernel_h * op->kernel_w;
}

static double linear_flops(const struct net_op *op, struct net_shape in, struct net_shape out)
{
    (void)op;
    return 2.0 * (double)net_shape_size(in) * out.c;
}

#define SIZE(key)                                                                                  \
    {                                                                                              \
        key, NET_SETTING_SIZE, offsetof(struct net_op, outputs), 0, 0, 0, NULL                     \
    }
#define COUNT(field, preset)                                                                       \
    {                                                                                              \
#field, NET_SETTING_COUNT, offsetof(struct net_op, field), 1, NET_MAX_SIZE, preset, NULL   \
    }
#define BOOL(key, field, preset)                                                                   \
    {                                                                                              \
        key, NET_SETTING_BOOL, offsetof(struct net_op, field), 0, 1, preset, NULL                  \
    }
#define BIAS BOOL("bias", has_bias, true)
#define PAIR(field, low, preset)                                                                   \
    {                                                                                              \
#field, NET_SETTING_PAIR, offsetof(struct net_op, field), low, MOST_WINDOW, preset, NULL   \
    }
#define NUMBER(field, low, high, preset)                                                           \
    {                                                                                              \
#field, NET_SETTING_NUMBER, offsetof(struct net_op, field), low, high, preset, NULL        \
    }
#define WORD(key, field, words)                                                                    \
    {                                                                                              \
        key, NET_SETTING_WORD, offsetof(struct net_op, field), 0, 0, 0, words                      \
    }

static const struct net_operation
    conv_operation = {.inputs = 1,
                      .access = NET_ALL_CHANNELS,
                      .takes_relu = true,
                      .settings = {SIZE("channels"), PAIR(kernel, 1, NAN), PAIR(stride, 1, 1),
                                   PAIR(pad, 0, 0), PAIR(dilation, 1, 1), COUNT(groups, 1), BIAS},
                      .shape = conv_shape,
                      .flops = conv_flops,
                      .params = net_conv_params},
    batchnorm_operation = {.inputs = 1,
                           .access = NET_SAME_LAYOUT,
                           .takes_relu = true,
                           .settings = {NUMBER(eps, 1e-12, 1, 1e-5), NUMBER(momentum, 0, 1, 0.1)},
                           .params = net_batchnorm_params},
    groupnorm_operation = {.inputs = 1,
                           .access = NET_SAME_LAYOUT,
                           .settings = {COUNT(groups, NAN), NUMBER(eps, 1e-12, 1, 1e-5)},
                           .shape = groupnorm_shape,
                           .params = net_groupnorm_params},
    relu_operation = {.inputs = 1, .access = NET_ANY_ORDER},
    leaky_relu_operation = {.inputs = 1,
                            .access = NET_ANY_ORDER,
                            .settings = {NUMBER(negative_slope, 0, 1, 0.01)}},
    sigmoid_operation = {.inputs = 1, .access = NET_ANY_ORDER},
    tanh_operation = {.inputs = 1, .access = NET_ANY_ORDER},
    gelu_operation = {.inputs = 1,
                      .access = NET_ANY_ORDER,
                      .settings = {WORD("approximate", gelu, "none tanh")}},
    silu_operation = {.inputs = 1, .access = NET_ANY_ORDER},
    hardswish_operation = {.inputs = 1, .access = NET_ANY_ORDER},
    maxpool_operation = {.inputs = 1,
                         .access = NET_SAME_LAYOUT,
                         /* Stride 0: as the kernel, windows side by side. */
                         .settings = {PAIR(kernel, 1, NAN), PAIR(stride, 1, 0), PAIR(pad, 0, 0)},
                         .shape = pool_shape},
    avgpool_operation = {.inputs = 1,
                         .access = NET_SAME_LAYOUT,
                         .settings = {PAIR(kernel, 1, NAN), PAIR(stride, 1, 0), PAIR(pad, 0, 0),
                                      BOOL("count_include_pad", count_include_pad, true)},
                         .shape = pool_shape},
    global_avgpool_operation = {.inputs = 1,
                                .access = NET_PIXELS_GONE,
                                .shape = global_avgpool_shape},
    linear_operation = {.inputs = 1,
                        .access = NET_ALL_NUMBERS,
                        .takes_relu = true,
                        .settings = {SIZE("outputs"), BIAS},
                        .shape = linear_shape,
                        .flops = linear_flops,
                        .params = net_linear_params},
    flatten_operation = {.inputs = 1, .access = NET_SHAPE_CHANGED, .shape = flatten_shape},
    add_operation = {.inputs = 2, .access = NET_SAME_LAYOUT, .takes_relu = true},
    dropout_operation = {.inputs = 1,
                         .access = NET_ANY_ORDER,
                         .settings = {NUMBER(p, 0, 0.999, 0.5)}},
    gather_operation = {.inputs = 1, .access = NET_SAME_LAYOUT, .shape = gather_shape},
    gather_rows_operation = {.inputs = 1, .access = NET_ANY_ORDER};

const struct net_operation *net_operation(enum net_kind kind)
{
#define OPERATION(kind, word) [kind] = &word##_operation,
    static const struct net_operation *const operations[] = {NET_OPERATIONS(OPERATION)
                                                                 NET_SLICE_OPERATIONS(OPERATION)};
#undef OPERATION
    return operations[kind];
}

const char *net_kind_name(enum net_kind kind)
{
#define NAME(kind, word) [kind] = #word,
    static const char *const names[] = {NET_OPERATIONS(NAME) NET_SLICE_OPERATIONS(NAME)};
#undef NAME
    return names[kind];
}

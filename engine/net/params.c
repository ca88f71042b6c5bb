/* SPDX-License-Identifier: MIT */
#include "engine/net/params.h"

#include <stdlib.h>

#include "base/text.h"
#include "engine/net/error.h"

#define PARAMS_PER_OP 4 /* BatchNorm has most */

bool net_product(const int *factors, int count, size_t *out)
{
    size_t product = 1;
    for (int i = 0; i < count; i++)
        if (__builtin_mul_overflow(product, (size_t)factors[i], &product) ||
            product > NET_MAX_VALUES)
            return false;
    *out = product;
    return true;
}

/* Append one param of the operation and set *index to its place. */
static bool add_param(struct net *net, const char *file, struct net_param param, const char *suffix,
                      int *index, struct error *err)
{
    const struct net_op *op = &net->ops[param.op];
    if (!net_product(param.dims, param.ndim, &param.count) ||
        param.count > NET_MAX_VALUES - net->value_count)
        return model_error(file, op->line, err,
                           "too large: the network's parameters pass 2^31 numbers here");
    param.name = text_format("%s.%s", op->name, suffix);
    if (!param.name)
        return error_memory(err, "network");
    param.offset = net->value_count;
    net->value_count += param.count;
    *index = net->param_count;
    net->params[net->param_count++] = param;
    if (net_is_trained(&param))
        net->trainable_count += param.count;
    return true;
}

static bool add_weight_and_bias(struct net *net, const char *file, struct net_param weight,
                                struct error *err)
{
    struct net_op *op = &net->ops[weight.op];
    size_t fan_in;
    if (!net_product(weight.dims + 1, weight.ndim - 1, &fan_in))
        return model_error(file, op->line, err,
                           "too large: one filter of this layer passes 2^31 numbers");
    weight.fan_in = (int)fan_in;
    const struct net_param bias = {.role = NET_BIAS,
                                   .op = weight.op,
                                   .ndim = 1,
                                   .dims = {op->outputs},
                                   .fan_in = weight.fan_in};
    return add_param(net, file, weight, "weight", &op->weight, err) &&
           (!op->has_bias || add_param(net, file, bias, "bias", &op->bias, err));
}

bool net_conv_params(struct net *net, const char *file, int index, struct error *err)
{
    const struct net_op *op = &net->ops[index];
    const int channels = net->tensors[op->inputs[0]].shape.c / op->groups;
    const struct net_param weight = {.role = NET_WEIGHT,
                                     .op = index,
                                     .ndim = 4,
                                     .dims = {op->outputs, channels, op->kernel_h, op->kernel_w}};
    return add_weight_and_bias(net, file, weight, err);
}

bool net_linear_params(struct net *net, const char *file, int index, struct error *err)
{
    const struct net_op *op = &net->ops[index];
    const int inputs = (int)net_shape_size(net->tensors[op->inputs[0]].shape);
    const struct net_param weight = {
        .role = NET_WEIGHT, .op = index, .ndim = 2, .dims = {op->outputs, inputs}};
    return add_weight_and_bias(net, file, weight, err);
}

bool net_batchnorm_params(struct net *net, const char *file, int index, struct error *err)
{
    struct net_op *op = &net->ops[index];
    struct {
        enum net_role role;
        const char *suffix;
        int *index;
    } parts[PARAMS_PER_OP] = {
        {NET_BN_WEIGHT, "weight", &op->weight},
        {NET_BN_BIAS, "bias", &op->bias},
        {NET_RUNNING_MEAN, "running_mean", &op->running_mean},
        {NET_RUNNING_VAR, "running_var", &op->running_var},
    };
    for (int i = 0; i < PARAMS_PER_OP; i++) {
        struct net_param param = {.role = parts[i].role, .op = index, .ndim = 1};
        param.dims[0] = net->tensors[op->output].shape.c;
        if (!add_param(net, file, param, parts[i].suffix, parts[i].index, err))
            return false;
    }
    return true;
}

bool net_groupnorm_params(struct net *net, const char *file, int index, struct error *err)
{
    struct net_op *op = &net->ops[index];
    const int channels = net->tensors[op->output].shape.c;
    const struct net_param weight = {.role = NET_BN_WEIGHT,
                                     .op = index,
                                     .ndim = 1,
                                     .dims = {channels}},
                           bias = {.role = NET_BN_BIAS, .op = index, .ndim = 1, .dims = {channels}};
    return add_param(net, file, weight, "weight", &op->weight, err) &&
           add_param(net, file, bias, "bias", &op->bias, err);
}

bool net_make_params(struct net *net, const char *file, const int *modules, int module_count,
                     struct error *err)
{
    net->params = calloc((size_t)module_count * PARAMS_PER_OP + 1, sizeof *net->params);
    if (!net->params)
        return error_memory(err, "network");
    for (int i = 0; i < module_count; i++)
        if (!net_operation(net->ops[modules[i]].kind)->params(net, file, modules[i], err))
            return false;
    return true;
}

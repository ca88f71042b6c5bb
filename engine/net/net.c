/* SPDX-License-Identifier: MIT */
#include "engine/net/net.h"

#include <stdlib.h>

void net_free(struct net *net)
{
    if (!net)
        return;
    for (int i = 0; i < net->op_count; i++)
        free(net->ops[i].name);
    for (int i = 0; i < net->param_count; i++)
        free(net->params[i].name);
    free(net->ops);
    free(net->tensors);
    free(net->params);
    free(net->name);
    free(net->source);
    free(net);
}

double net_op_flops(const struct net *net, int op)
{
    const struct net_op *o = &net->ops[op];
    struct net_shape in = net->tensors[o->inputs[0]].shape;
    struct net_shape out = net->tensors[o->output].shape;
    if (o->kind == NET_CONV)
        return 2.0 * (double)net_shape_size(out) * in.c * o->kernel_h * o->kernel_w;
    if (o->kind == NET_LINEAR)
        return 2.0 * (double)net_shape_size(in) * out.c;
    return 0;
}

double net_forward_flops(const struct net *net)
{
    double sum = 0;
    for (int i = 0; i < net->op_count; i++)
        sum += net_op_flops(net, i);
    return sum;
}

double net_training_flops(const struct net *net)
{
    return 3 * net_forward_flops(net);
}

bool net_is_trained(const struct net_param *param)
{
    return param->role != NET_RUNNING_MEAN && param->role != NET_RUNNING_VAR;
}

const char *net_kind_name(enum net_kind kind)
{
    static const char *const names[] = {
        [NET_CONV] = "conv",       [NET_BATCHNORM] = "batchnorm",
        [NET_RELU] = "relu",       [NET_SIGMOID] = "sigmoid",
        [NET_TANH] = "tanh",       [NET_MAXPOOL] = "maxpool",
        [NET_AVGPOOL] = "avgpool", [NET_GLOBAL_AVGPOOL] = "global_avgpool",
        [NET_LINEAR] = "linear",   [NET_FLATTEN] = "flatten",
        [NET_ADD] = "add",         [NET_DROPOUT] = "dropout",
    };
    return names[kind];
}

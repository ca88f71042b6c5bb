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
    const struct net_operation *operation = net_operation(o->kind);
    return operation->flops ? operation->flops(o, in, out) : 0;
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

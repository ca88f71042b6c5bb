/* SPDX-License-Identifier: MIT */
#include "engine/net/describe.h"

static json_t *shape_array(struct net_shape shape)
{
    return json_pack("[i,i,i]", shape.c, shape.h, shape.w);
}

static json_int_t trainable_of(const struct net *net, int op)
{
    size_t count = 0;
    for (int i = 0; i < net->param_count; i++)
        if (net->params[i].op == op && net_is_trained(&net->params[i]))
            count += net->params[i].count;
    return (json_int_t)count;
}

/* json_pack's "o" takes over the reference and fails the whole on NULL. */
static json_t *layer_object(const struct net *net, int index)
{
    const struct net_op *op = &net->ops[index];
    return json_pack("{s:s,s:s,s:o,s:I,s:f}", "name", op->name, "kind", net_kind_name(op->kind),
                     "output", shape_array(net->tensors[op->output].shape), "parameters",
                     trainable_of(net, index), "flops", net_op_flops(net, index));
}

json_t *net_describe(const struct net *net)
{
    json_t *layers = json_array();
    for (int i = 0; i < net->op_count; i++) {
        if (json_array_append_new(layers, layer_object(net, i)) != 0) {
            json_decref(layers);
            return NULL;
        }
    }
    return json_pack("{s:s,s:s,s:o,s:i,s:o,s:I,s:f,s:f}", "name", net->name, "source", net->source,
                     "input", shape_array(net->input), "classes", net->classes, "layers", layers,
                     "parameters", (json_int_t)net->trainable_count, "forward_flops",
                     net_forward_flops(net), "training_flops", net_training_flops(net));
}

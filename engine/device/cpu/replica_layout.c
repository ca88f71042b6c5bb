/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/replica_layout.h"

#include <stdlib.h>

#include "engine/device/cpu/conv/describe.h"

#define NOMINAL_ROWS 32

static const struct node *node_of(const struct graph *graph, int op)
{
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].op == op)
            return &graph->nodes[i];
    return NULL;
}

const struct value *replica_linear_input(const struct cpu_replica *replica, int op)
{
    return &replica->graph.values[node_of(&replica->graph, op)->input];
}

/* Ours between blocks of one size, which is the library's favourite too; else what that is. */
static desc_t stored_weights(struct device *device, const struct conv_shape *shape,
                             struct error *err)
{
    dnnl_primitive_desc_t desc;
    desc_t out;
    if (shape->in_block == shape->out_block && shape->in_block > 1 && shape->groups == 1) {
        out = conv_weights_desc(shape);
    } else {
        if (!conv_describe_best(device, shape, CONV_FORWARD, LIBRARY_DIRECT, &desc, err))
            return NULL;
        out = compat_desc_copy(dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0));
        dnnl_primitive_desc_destroy(desc);
    }
    if (!out)
        error_memory(err, "layout of weights");
    return out;
}

static bool shape_conv_weights(struct device *device, const struct graph *graph,
                               const struct node *node, struct weights_format *format,
                               struct error *err)
{
    struct conv_shape shape;
    conv_shape_of(&shape, graph, node, NOMINAL_ROWS, false);
    format->order = WEIGHTS_LIBRARY;
    format->filters = conv_filters(&shape);
    format->desc = stored_weights(device, &shape, err);
    return format->desc != NULL;
}

struct layout {
    struct device *device;
    struct cpu_replica *replica;
};

static bool shape_weights(void *context, const struct node *node, size_t *size, struct error *err)
{
    const struct layout *l = context;
    const struct cpu_replica *r = l->replica;
    const struct net *net = r->base.net;
    const int weight = net->ops[node->op].weight;
    struct weights_format *format = &r->formats[weight];
    if (r->lanes)
        return true; /* as they are */
    if (node->kind == NET_CONV) {
        if (!shape_conv_weights(l->device, &r->graph, node, format, err))
            return error_prefix(err, "conv %s", net->ops[node->op].name);
        *size = dnnl_memory_desc_get_size(format->desc) / sizeof(float);
        return true;
    }
    format->order = WEIGHTS_MATRIX;
    *size = (size_t)net->params[weight].dims[0] * value_row(&r->graph.values[node->input]);
    return true;
}

bool replica_lay_out(struct device *device, struct cpu_replica *r, struct error *err)
{
    struct layout l = {device, r};
    r->formats = calloc((size_t)r->base.net->param_count + 1, sizeof *r->formats);
    return r->formats ? param_places_make(&r->graph, shape_weights, &l, &r->places, err)
                      : error_memory(err, "formats of parameters");
}

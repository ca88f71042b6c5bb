/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/replica_layout.h"

#include "engine/device/cpu/conv/describe.h"

#define NOMINAL_ROWS 32
#define ALIGN_FLOATS 16

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

static size_t round_floats(size_t count)
{
    return (count + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

/* Ours between blocks of one size, which is the library's favourite too; else what that is. */
static desc_t stored_weights(struct device *device, const struct conv_shape *shape,
                             struct error *err)
{
    dnnl_primitive_desc_t desc;
    desc_t out;
    if (shape->in_block == shape->out_block && shape->in_block > 1) {
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
                               const struct node *node, struct place *place, struct error *err)
{
    struct conv_shape shape;
    conv_shape_of(&shape, graph, node, NOMINAL_ROWS);
    place->kind = PLACE_CONV;
    place->out = shape.out;
    place->in = shape.in;
    place->desc = stored_weights(device, &shape, err);
    if (!place->desc)
        return false;
    place->size = round_floats(dnnl_memory_desc_get_size(place->desc) / sizeof(float));
    return true;
}

static bool shape_weights(struct device *device, const struct cpu_replica *r,
                          const struct node *node, struct place *place, struct error *err)
{
    const struct net *net = r->base.net;
    if (r->lanes)
        return true; /* a vector, as it is */
    if (node->kind == NET_CONV)
        return shape_conv_weights(device, &r->graph, node, place, err) ||
               error_prefix(err, "conv %s", net->ops[node->op].name);
    place->kind = PLACE_MATRIX;
    place->size = round_floats((size_t)net->params[net->ops[node->op].weight].dims[0] *
                               value_row(&r->graph.values[node->input]));
    return true;
}

/* Next in the arena of trained parameters. */
static void put_trained(struct cpu_replica *r, int param, struct replica_sizes *sizes)
{
    if (param == NET_NONE)
        return;
    r->places[param].offset = sizes->trained;
    sizes->trained += r->places[param].size;
}

static void put_statistics(struct cpu_replica *r, int param, struct replica_sizes *sizes)
{
    r->places[param].kind = PLACE_STATISTICS;
    r->places[param].offset = sizes->statistics;
    sizes->statistics += r->places[param].size;
}

bool replica_lay_out(struct device *device, struct cpu_replica *r, struct replica_sizes *sizes,
                     struct error *err)
{
    const struct net *net = r->base.net;
    *sizes = (struct replica_sizes){0};
    r->places = calloc((size_t)net->param_count + 1, sizeof *r->places);
    if (!r->places)
        return error_memory(err, "places of parameters");
    for (int i = 0; i < net->param_count; i++)
        r->places[i] = (struct place){.size = round_floats(net->params[i].count)};
    for (int i = r->graph.node_count; i-- > 0;) {
        const struct node *node = &r->graph.nodes[i];
        if (node->kind != NET_CONV && node->kind != NET_LINEAR && node->kind != NET_BATCHNORM)
            continue;
        const struct net_op *op = &net->ops[node->op];
        if (node->kind != NET_BATCHNORM &&
            !shape_weights(device, r, node, &r->places[op->weight], err))
            return false;
        put_trained(r, op->weight, sizes);
        if (node->kind == NET_BATCHNORM) {
            put_trained(r, op->bias, sizes);
            put_trained(r, node->input_bias, sizes);
            put_trained(r, node->residual_bias, sizes);
            put_statistics(r, op->running_mean, sizes);
            put_statistics(r, op->running_var, sizes);
        } else {
            put_trained(r, node->bias, sizes);
        }
    }
    return true;
}

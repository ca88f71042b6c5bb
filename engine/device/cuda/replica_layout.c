/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/replica.h"

#include <stdlib.h>

#define ALIGN_FLOATS 16

static size_t round_floats(size_t count)
{
    return (count + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

/*
 * Filters of a convolution read the channels of each tap as stored; those of one whose input comes
 * as columns read the taps of all channels, without gaps, as one long pixel.
 */
static void shape_conv(struct place *place, const struct graph *graph, const struct node *node,
                       const struct net_param *param)
{
    const struct value *x = &graph->values[node->input], *y = &graph->values[node->output];
    place->channels = (size_t)param->dims[1];
    place->taps = (size_t)param->dims[2] * (size_t)param->dims[3];
    place->stride = node->columns ? place->channels : (size_t)value_channels(x);
    place->row = node->columns ? (size_t)value_channels(x) : place->taps * place->stride;
    place->size = round_floats((size_t)value_channels(y) * place->row);
}

/* Rows of a linear layer lie in the order of the input. */
static void shape_linear(struct place *place, const struct graph *graph, const struct node *node)
{
    const struct value *x = &graph->values[node->input], *y = &graph->values[node->output];
    place->channels = (size_t)x->shape.c;
    place->taps = (size_t)value_pixels(x);
    place->stride = (size_t)value_channels(x);
    place->row = value_row(x);
    place->size = round_floats((size_t)value_channels(y) * place->row);
}

static void shape_weights(struct cuda_replica *r, const struct node *node)
{
    const struct net *net = r->base.net;
    const int param = net->ops[node->op].weight;
    struct place *place = &r->places[param];
    if (node->kind == NET_BATCHNORM)
        return;
    place->kind = PLACE_FILTER;
    place->out = (size_t)net->params[param].dims[0];
    if (node->kind == NET_CONV)
        shape_conv(place, &r->graph, node, &net->params[param]);
    else
        shape_linear(place, &r->graph, node);
}

/* Next in the arena of trained parameters. */
static void put_trained(struct cuda_replica *r, int param, struct replica_sizes *sizes)
{
    if (param == NET_NONE)
        return;
    r->places[param].offset = sizes->trained;
    sizes->trained += r->places[param].size;
}

static void put_statistics(struct cuda_replica *r, int param, struct replica_sizes *sizes)
{
    r->places[param].kind = PLACE_STATISTICS;
    r->places[param].offset = sizes->statistics;
    sizes->statistics += r->places[param].size;
}

bool cuda_replica_lay_out(struct cuda_replica *r, struct replica_sizes *sizes, struct error *err)
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
        shape_weights(r, node);
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

/* SPDX-License-Identifier: MIT */
#include "engine/device/cuda/replica/layout.h"

#include <stdlib.h>

#include "engine/device/cuda/replica/arenas.h"

/*
 * Filters of a convolution read the channels of each tap as stored; those of one whose input comes
 * as columns read the taps of all channels, without gaps, as one long pixel. Those of a group have
 * no gaps either.
 */
static void shape_conv(struct filter_layout *filter, const struct graph *graph,
                       const struct node *node, const struct net_param *param)
{
    const struct value *x = &graph->values[node->input];
    filter->channels = (size_t)param->dims[1];
    filter->taps = (size_t)param->dims[2] * (size_t)param->dims[3];
    const bool gaps = !node->columns && graph->net->ops[node->op].groups == 1;
    filter->stride = gaps ? (size_t)value_channels(x) : filter->channels;
    filter->row = node->columns ? (size_t)value_channels(x) : filter->taps * filter->stride;
}

/* Rows of a linear layer lie in the order of the input. */
static void shape_linear(struct filter_layout *filter, const struct graph *graph,
                         const struct node *node)
{
    const struct value *x = &graph->values[node->input];
    filter->channels = (size_t)x->shape.c;
    filter->taps = (size_t)value_pixels(x);
    filter->stride = (size_t)value_channels(x);
    filter->row = value_row(x);
}

static bool shape_weights(void *context, const struct node *node, size_t *size, struct error *err)
{
    struct cuda_replica *r = context;
    const struct net_param *param = &r->base.net->params[r->base.net->ops[node->op].weight];
    struct filter_layout *filter = &r->filters[r->base.net->ops[node->op].weight];
    (void)err;
    filter->out = (size_t)param->dims[0];
    if (node->kind == NET_CONV)
        shape_conv(filter, &r->graph, node, param);
    else
        shape_linear(filter, &r->graph, node);
    *size = (size_t)value_channels(&r->graph.values[node->output]) * filter->row;
    return true;
}

bool cuda_replica_lay_out(struct cuda_replica *r, struct error *err)
{
    r->filters = calloc((size_t)r->base.net->param_count + 1, sizeof *r->filters);
    return r->filters ? param_places_make(&r->graph, shape_weights, r, &r->places, err)
                      : error_memory(err, "layouts of parameters");
}

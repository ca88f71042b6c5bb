/* SPDX-License-Identifier: MIT */
#include "engine/device/plan/param_places.h"

#include <stdlib.h>
#include <string.h>

#define ALIGN_FLOATS 16

static size_t round_floats(size_t count)
{
    return (count + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
}

/* Next in the arena of trained parameters. */
static void put_trained(struct param_places *p, int param, size_t count)
{
    if (param == NET_NONE)
        return;
    p->list[param] = (struct param_place){.offset = p->trained, .size = round_floats(count)};
    p->trained += p->list[param].size;
}

static void put_statistics(struct param_places *p, int param, size_t count)
{
    if (param == NET_NONE)
        return;
    p->list[param] = (struct param_place){
        .statistics = true, .offset = p->statistics, .size = round_floats(count)};
    p->statistics += p->list[param].size;
}

/* All of them have a number for each channel. */
static void put_norm(struct param_places *p, const struct node *node, const struct net_op *op,
                     size_t channels)
{
    put_trained(p, op->weight, channels);
    put_trained(p, op->bias, channels);
    put_trained(p, node->input_bias, channels);
    put_trained(p, node->residual_bias, channels);
    put_statistics(p, op->running_mean, channels);
    put_statistics(p, op->running_var, channels);
}

bool param_places_make(const struct graph *graph, weights_size_function *weights_size,
                       void *context, struct param_places *out, struct error *err)
{
    const struct net *net = graph->net;
    *out = (struct param_places){.list = calloc((size_t)net->param_count + 1, sizeof *out->list)};
    if (!out->list)
        return error_memory(err, "places of parameters");
    for (int i = graph->node_count; i-- > 0;) {
        const struct node *node = &graph->nodes[i];
        if (!net_operation(node->kind)->params)
            continue;
        const struct net_op *op = &net->ops[node->op];
        if (net->params[op->weight].role == NET_BN_WEIGHT) {
            put_norm(out, node, op, net->params[op->weight].count);
            continue;
        }
        size_t size = net->params[op->weight].count;
        if (!weights_size(context, node, &size, err))
            return false;
        put_trained(out, op->weight, size);
        if (node->bias != NET_NONE)
            put_trained(out, node->bias, net->params[node->bias].count);
    }
    return true;
}

uint8_t *param_places_spared(const struct net *net, const struct param_places *places,
                             struct error *err)
{
    uint8_t *spared = calloc(places->trained / ALIGN_FLOATS + 1, 1);
    if (!spared) {
        error_memory(err, "places of parameters");
        return NULL;
    }
    for (int i = 0; i < net->param_count; i++) {
        const struct param_place *place = &places->list[i];
        if (!place->statistics && net->params[i].ndim == 1)
            memset(spared + place->offset / ALIGN_FLOATS, 1, place->size / ALIGN_FLOATS);
    }
    return spared;
}

size_t param_places_replicated(const struct net *net, const struct param_places *places)
{
    size_t begin = places->trained;
    bool gathers = false;
    for (int i = 0; i < net->op_count; i++)
        gathers = gathers || net->ops[i].kind == NET_GATHER_ROWS;
    for (int i = 0; gathers && i < net->param_count; i++) {
        const struct param_place *place = &places->list[i];
        const bool replicated = !net->ops[net->params[i].op].global_batch;
        if (replicated && !place->statistics && place->offset < begin)
            begin = place->offset;
    }
    return places->trained - begin;
}

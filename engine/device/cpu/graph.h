/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_GRAPH_H
#define DPARTUI_ENGINE_DEVICE_CPU_GRAPH_H

#include <stdbool.h>

#include "engine/net/fuse.h"
#include "engine/net/net.h"

/*
 * The network as this machine computes it: fused operations over values whose layout in memory is
 * chosen, with conversions where two layouts meet. Depends on the network and the machine alone, so
 * that every device lays its parameters out alike; a plan adds the number of rows.
 *
 * Layouts: a value is stored as [row][c / block][h][w][block]. Block 1 is the plain c,h,w order;
 * wider blocks (16 channels with AVX-512, 8 with AVX2) are what the convolutions want, their last
 * block filled up with channels that are zero and stay so.
 */
struct value {
    struct net_shape shape; /* as stored; behind a flatten still the shape in front of it */
    int block;
    int readers;
    bool wants_grad; /* something trained lies in front of it, and the logits behind it */
    bool live;       /* reaches the logits */
};

/* Channels with those that fill the last block. */
static inline int value_channels(const struct value *v)
{
    return (v->shape.c + v->block - 1) / v->block * v->block;
}

static inline int value_pixels(const struct value *v)
{
    return v->shape.h * v->shape.w;
}

/* Floats of one row. */
static inline size_t value_row(const struct value *v)
{
    return (size_t)value_channels(v) * (size_t)value_pixels(v);
}

/* A fused operation whose tensors became values. A NET_FLATTEN between values of different blocks
 * is a conversion, between equal ones nothing but another name. */
struct node {
    enum net_kind kind;
    int op; /* NET_NONE: a conversion that the network does not know */
    int input, residual, output;
    bool relu;
    int bias, input_bias, residual_bias;
    bool backward; /* takes part in the backward pass */
};

struct graph {
    const struct net *net;
    int node_count, value_count, output; /* output: value with the logits */
    struct node *nodes;
    struct value *values; /* the first is the network's input */
};

/* Release with graph_free. */
bool graph_build(const struct net *net, int block, struct graph *out, struct error *err);
void graph_free(struct graph *graph);

#endif

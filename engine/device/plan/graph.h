/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "engine/net/fuse.h"
#include "engine/net/net.h"
#include "engine/net/stage.h"

/*
 * The network as a machine computes it: fused operations over values whose layout in memory is
 * chosen, with conversions where two layouts meet. Depends on the network and the machine alone, so
 * that every device lays its parameters out alike; a plan adds the number of rows.
 *
 * A value is stored as [row][c / block][h][w][block]; the last block is filled up with channels
 * that are zero and stay so. Block 1 is the plain c,h,w order.
 */
enum graph_layout {
    /* CPU: a given block (16 channels with AVX-512, 8 with AVX2) where convolutions want it, 1
     * elsewhere. */
    LAYOUT_BLOCKS,
    /* GPU: one block of all channels, filled up to a multiple of the given number. No conversions;
     * only a NET_FLATTEN after which the order matters is one. */
    LAYOUT_CHANNELS_LAST,
};

struct value {
    struct net_shape shape; /* as stored; after a flatten still the shape before it */
    int block;
    int readers;
    bool wants_grad; /* something trained lies before it, and the logits after it */
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
    int norm;      /* conv: the operation whose BatchNorm became part of it, or NET_NONE */
    bool backward; /* takes part in the backward pass */
    /* A convolution whose input was laid out by the input step as the taps that each pixel of its
     * output reads (im2col): here it is one of 1 x 1 pixels. */
    bool columns;
};

/* The values that a graph begins with, or ends with. */
struct graph_end {
    int count, value[NET_CUT_TENSORS];
};

struct graph {
    const struct net *net;
    int node_count, value_count;
    struct graph_end entry, exit; /* of the whole network its input, value 0, and the logits */
    int logits;                   /* value; also of a stage that does not make them */
    bool begins, ends;            /* with the network's input, with the logits */
    struct node *nodes;
    struct value *values;
};

/*
 * Of a stage of the network, or, where that is NULL, of all of it. Layouts are chosen for the whole
 * network, so neighbouring stages agree on them. Release with graph_free.
 */
bool graph_build(const struct net *net, const struct net_stage *stage, enum graph_layout layout,
                 int block, struct graph *out, struct error *err);
void graph_free(struct graph *graph);

/* Does the graph end with the value, so that it has to be in memory? */
bool graph_is_exit(const struct graph *graph, int value);
/* Numbers of one row in all its values. */
size_t graph_end_row(const struct graph *graph, const struct graph_end *end);

/* The operation of a node. Conversions, which the network does not know, come before theirs. */
int graph_operation(const struct graph *graph, const struct node *node);

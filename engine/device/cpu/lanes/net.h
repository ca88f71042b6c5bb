/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/plan.h"
#include "engine/device/cpu/lanes/lanes.h"

/*
 * A small network as one step: threads share the groups of rows, and each takes its own through all
 * layers and back. A thread adds its groups' weight gradients of convolutions up, lane by lane; the
 * gradients of linear layers are products over all rows, made when all groups are through.
 */

/* A value of the network while a group passes. Offsets are floats into the thread's memory. */
struct lanes_value {
    struct lanes_image image;
    size_t at, gradient;
};

enum lanes_kind { LANES_CONV = 1, LANES_LINEAR, LANES_POOL, LANES_DROPOUT, LANES_ACTIVATION };

struct lanes_op {
    enum lanes_kind kind;
    int op;   /* of the network */
    int x, y; /* values */
    enum lanes_act act;
    bool backward, data; /* takes part in the backward pass; x wants its gradient */
    /* The gradient of y arrives as that before the activation, bias counted: the pooling
     * after it did that along with its own. */
    bool through;
    union {
        struct lanes_conv conv;
        struct lanes_pool pool;
    };
    /* A pooling that does so: over x, with the activation before it. */
    enum lanes_act act_before;
    const struct lanes_op *before;
    int in, out;                 /* linear */
    const float *weights, *bias; /* arenas */
    float *weight_gradient, *bias_gradient;
    size_t packed, packed_data;      /* floats into the packed weights */
    size_t sums, bias_sums;          /* conv: vectors into the thread's sums */
    size_t factors;                  /* dropout: floats into the thread's memory */
    size_t x_stride, y_stride;       /* linear: floats of a row */
    struct buffer *x_rows, *dy_rows; /* linear: all rows of x and of the gradient of y */
    int steps[3]; /* of a profile: forward, backward or gradient of weights, gradient of data */
};

struct lanes_net {
    const struct lanes_kernels *kernels;
    const struct net *net;
    bool training;
    double smoothing; /* of labels */
    int rows, groups, threads;
    struct lanes_op *ops;
    int op_count, output; /* output: the value with the logits */
    struct lanes_value *values;
    int value_count;
    size_t memory;                                         /* floats of a thread */
    size_t sums_at, logit_gradients, pictures, scratch_at; /* offsets into them, after the values */
    size_t scratch;                                        /* floats */
    size_t sums;                /* vectors, a multiple of lanes: gradients of all convolutions */
    size_t packed;              /* floats */
    size_t logits_row, picture; /* numbers of a row of logits, of a row of the data */
    float *scale, *shift;       /* of pixels, per channel */
    int loss_step, step_count;  /* of a profile: of the loss; an upper bound; 0 is the input's */
    double *spent;              /* seconds of step_count steps, thread by thread; NULL: none */
    struct buffer *threads_memory, *packed_weights, *partial, *logits, *losses;
};

/*
 * Fill in operations, values and sizes for plans over `rows` rows; rows may be 0. `graph` has
 * blocks of one channel. Fails only when memory runs out; release with lanes_net_free.
 */
bool lanes_net_create(const struct graph *graph, const struct lanes_kernels *kernels, bool training,
                      int rows, int threads, struct lanes_net *out, struct error *err);
void lanes_net_free(struct lanes_net *net);

/* Whether lanes can compute an operation; `flat`: there is a flattened or linear value before it.
 * An operation that is not known here is computed by the plans of larger networks. */
bool lanes_op_suits(const struct graph *graph, const struct node *node, bool flat);

/* Whether a node stands for nothing that is done: its output is its input. */
static inline bool lanes_is_name_only(const struct node *node, bool training)
{
    return node->kind == NET_FLATTEN || (node->kind == NET_DROPOUT && !training);
}

/* Things [lanes_share(part), lanes_share(part + 1)) of `count` are a part's, as evenly as can be.
 */
static inline int lanes_share(int count, int part, int parts)
{
    return (int)((long)count * part / parts);
}

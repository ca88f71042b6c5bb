/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/fusion.h"
#include "engine/device/cpu/core/plan.h"

/*
 * BatchNorm, with the addition and ReLU after it where the fuse pass joined them. Channels are
 * independent, so a channel block is the unit of parallel work; where the team is larger than the
 * blocks divide, rows are cut into chunks as well, whose sums are added in a fixed order.
 */
struct batchnorm {
    const struct kernels *kernels;
    int rows, channels, blocks, block, chunks;
    int real; /* channels that the network knows, of those stored */
    size_t pixels;
    bool relu, residual, sync, stream, wants_dx;
    bool together; /* all threads take chunks of a channel block, then of the next */
    double eps, momentum;
    /* parameters and their gradients; residual_bias and its gradient: NULL when absent */
    const float *gamma, *beta, *input_bias, *residual_bias;
    float *running_mean, *running_var;
    double *gathered_mean, *gathered_squares; /* struct cpu_replica, moments; NULL: not gathered */
    float *dgamma, *dbeta, *dinput_bias, *dresidual_bias;
    /* values; in a plan of 0 rows NULL */
    struct buffer *x, *other, *y, *mask;
    struct buffer *dy, *dy2, *g, *dx;
    struct buffer *stats; /* [STAT_ARRAYS][channels], from forward to backward */
    struct buffer *sums;  /* doubles: [blocks][chunks][2][block]; after them [2][channels], which
                           * devices all-reduce */
    /* Fusion with convolutions (conv/fusion.h). */
    bool fused;             /* those that read y compute it from x; it is not stored */
    struct buffer *moments; /* of x, by the one that makes it; NULL: x is read for them */
    int threads;            /* that made them */
    /* Of the running pass. */
    const struct micro_batch *micro; /* NULL: no stage's */
    bool adds;                       /* its gradients to those of the micro-batches before it */
};

/* Arrays over the channels, one after the other. */
enum { STAT_MEAN, STAT_ISTD, STAT_SCALE, STAT_SHIFT, STAT_A, STAT_B, STAT_C, STAT_ARRAYS };

static inline float *stat(const struct batchnorm *n, int array)
{
    return (float *)n->stats->data + (size_t)array * (size_t)n->channels;
}

/* The sums over all chunks that devices all-reduce: [2][channels]. */
static inline double *batchnorm_allreduced(const struct batchnorm *n)
{
    return (double *)n->sums->data + (size_t)n->blocks * n->chunks * 2 * n->block;
}

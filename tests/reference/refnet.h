/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/data/data.h"
#include "engine/device/device.h"
#include "engine/net/net.h"
#include "engine/weights/weights.h"

/*
 * The reference that device backends are tested against: a whole network in double precision,
 * written to be obviously right and not to be fast, with nothing in common with the backends but
 * the network's description and the random words of dropout (src/base/rng.h). What it computes is
 * itself tested by hand-made values and by finite differences (test_refnet.c).
 *
 * One refnet is one replica: BatchNorm takes its statistics over the rows of one call. Replicas of
 * one run have one refnet each, and the caller adds up their gradients; synchronised BatchNorm is
 * one refnet given all the rows at once.
 *
 * Whatever cannot be allocated fails the running check.
 */
struct refnet {
    const struct net *net;
    double
        *values;   /* canonical order, running statistics included; free to change between passes */
    double *grads; /* canonical order; zero for running statistics */
    int rows;      /* of the last pass */
    double **tensors; /* per tensor: rows x c x h x w, row-major */
    double **tensor_grads;
};

struct refnet_batch {
    const double *input; /* rows x c x h x w as the network sees it, see refnet_input */
    const uint8_t *labels;
    const uint32_t *index; /* row numbers in the data set: dropout depends on them */
    int rows;              /* may be 0 */
    long global_rows;      /* gradients carry 1/this */
    uint64_t seed;
    uint32_t epoch;
    double label_smoothing; /* of training */
};

/* With the weights given, or all zero for NULL. */
struct refnet *refnet_create(const struct net *net, const struct weights *weights);
void refnet_free(struct refnet *ref);

/*
 * Forward with batch statistics and dropout, loss, backward: sets grads and tensor_grads (that of
 * tensor 0 too) and moves the running statistics.
 */
void refnet_train(struct refnet *ref, const struct refnet_batch *batch,
                  struct batch_result *result);
/* The forward pass and the loss of refnet_train alone. */
void refnet_train_loss(struct refnet *ref, const struct refnet_batch *batch,
                       struct batch_result *result);
/* Forward with running statistics and loss. */
void refnet_eval(struct refnet *ref, const struct refnet_batch *batch, struct batch_result *result);
/* Logits of the last pass, rows x classes. */
const double *refnet_logits(const struct refnet *ref);

/*
 * The rows `index` of a data set as the network sees them: scaled and normalised, in a new array
 * that the caller frees. Numbers are taken as they are.
 */
double *refnet_input(const struct net *net, const struct dataset *data, const uint32_t *index,
                     int rows);

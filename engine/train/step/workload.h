/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/data/data.h"
#include "engine/net/net.h"
#include "engine/weights/weights.h"
#include "spec/spec.h"

/* Rows that a network is evaluated on. */
struct row_set {
    const struct dataset *data;
    uint32_t *order; /* `rows` row numbers */
    long rows;       /* 0: there is no such set */
};

/* What a run computes: its network, and the rows that it trains and tests on. */
struct workload {
    struct data data;
    long train_rows, steps_per_epoch;
    uint32_t *order;     /* of the running epoch: train_rows row numbers, filled by the owner */
    uint32_t *train_own; /* the rows to train on, where some are for validation; NULL: the first */
    struct row_set test, validation;
    const struct row_set *evaluated; /* the one that evaluations are of now; NULL: not open yet */
    struct net *net;
    struct weights weights; /* those to begin with, and later those that device 0 exports */
};

/* Open the data and read the network of a spec that is resolved. `work` is zero before, and to be
 * closed after a failure, too. The weights are the owner's to make. `watch`: while pictures are
 * decoded. */
bool workload_open(struct workload *work, const struct spec *spec, const struct data_watch *watch,
                   struct error *err);
void workload_close(struct workload *work);

/*
 * Compute what the network leaves to the data, the mean and std of the rows to train on, unless it
 * has come from a file of weights (engine/weights/normalization.h). A channel that is everywhere
 * the same is divided by 1. Data that are numbers, no pixels, are not normalised at all.
 */
void workload_normalize(struct workload *work);

/* The rows of an epoch, in its order, into `order`. */
struct order;
void workload_fill_order(struct workload *work, const struct order *order);

/* Steps of `epochs` epochs, at most `limit` if that is not 0. */
long workload_steps(const struct workload *work, long epochs, long limit);

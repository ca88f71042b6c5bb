/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_TRAIN_STEP_WORKLOAD_H
#define DPARTUI_ENGINE_TRAIN_STEP_WORKLOAD_H

#include "base/error.h"
#include "engine/data/data.h"
#include "engine/net/net.h"
#include "engine/weights/weights.h"
#include "spec/spec.h"

/* What a run computes: its network, and the rows that it trains and tests on. */
struct workload {
    struct data data;
    long train_rows, test_rows, steps_per_epoch;
    uint32_t *order;      /* of the running epoch: train_rows row numbers, filled by the owner */
    uint32_t *test_order; /* 0..test_rows-1 */
    struct net *net;
    struct weights weights; /* those to begin with, and later those that device 0 exports */
};

/* Open the data and read the network of a spec that is resolved. `work` is zero before, and to be
 * closed after a failure, too. The weights are the owner's to make. */
bool workload_open(struct workload *work, const struct spec *spec, struct error *err);
void workload_close(struct workload *work);

/* Steps of `epochs` epochs, at most `limit` if that is not 0. */
long workload_steps(const struct workload *work, long epochs, long limit);

#endif

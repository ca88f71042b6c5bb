/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_WEIGHTS_WEIGHTS_H
#define DPARTUI_ENGINE_WEIGHTS_WEIGHTS_H

#include <stdint.h>

#include "engine/net/net.h"
#include "spec/spec.h"

/* All numbers of a network on the host, in canonical order: values[net->params[i].offset + ...]. */
struct weights {
    float *values;           /* net->value_count */
    int64_t batches_tracked; /* BatchNorm's num_batches_tracked */
};

bool weights_create(const struct net *net, struct weights *out, struct error *err);
void weights_free(struct weights *weights);
void weights_copy(const struct net *net, struct weights *to, const struct weights *from);
/* Give the memory back until the numbers are written again; they are undefined meanwhile. */
void weights_release_pages(const struct net *net, struct weights *weights);

/*
 * Fill by rule (reference: PyTorch 2, nn.Linear and nn.Conv2d). NORMAL: conv and linear weights
 * from N(0, std), biases U(-b, b) with b = 1/sqrt(fan_in); PYTORCH: weights and biases U(-b, b).
 * BatchNorm 1, 0; running statistics 0, 1. The numbers depend on (seed, param index, element)
 * alone.
 */
void weights_init(const struct net *net, struct weights *weights, enum init_rule rule, double std,
                  uint64_t seed);

#endif

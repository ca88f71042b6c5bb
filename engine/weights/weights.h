/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "engine/net/net.h"
#include "spec/spec.h"

/* All numbers of a network on the host, in canonical order: values[net->params[i].offset + ...]. */
struct weights {
    float *values;           /* net->value_count */
    int64_t batches_tracked; /* BatchNorm's num_batches_tracked */
};

/* The array of the weights that are trained, where those of the file are their average. */
#define STATE_UNAVERAGED "unaveraged"

/* What a run keeps besides its weights: arrays with a number for each of the network's, by the
 * names that they have in files. */
enum { STATE_ARRAYS = 3 };
struct state_arrays {
    int count;
    const char *names[STATE_ARRAYS];
};

bool weights_create(const struct net *net, struct weights *out, struct error *err);
void weights_free(struct weights *weights);
void weights_copy(const struct net *net, struct weights *to, const struct weights *from);
/* Give the memory back until the numbers are written again; they are undefined meanwhile. */
void weights_release_pages(const struct net *net, struct weights *weights);

/*
 * Fill by rule (reference: PyTorch 2's torch.nn.init, with their default gains). Weights of conv
 * and linear layers, with fan_in the inputs of one output, and fan_out a weight's outputs times the
 * pixels of its window:
 *   NORMAL           N(0, scale)           UNIFORM          U(-scale, scale)
 *   XAVIER_UNIFORM   U(-b, b) with b = sqrt(6 / (fan_in + fan_out))
 *   XAVIER_NORMAL    N(0, sqrt(2 / (fan_in + fan_out)))
 *   KAIMING_UNIFORM  U(-b, b) with b = sqrt(6 / fan_in)
 *   KAIMING_NORMAL   N(0, sqrt(2 / fan_in))
 *   PYTORCH          U(-b, b) with b = 1 / sqrt(fan_in)
 * Their biases are as PYTORCH has weights. BatchNorm 1, 0; running statistics 0, 1. The numbers
 * depend on (seed, param index, element) alone.
 */
void weights_init(const struct net *net, struct weights *weights, enum init_rule rule, double scale,
                  uint64_t seed);

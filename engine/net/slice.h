/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/net/net.h"

/*
 * Networks divided inside their layers, for tensor parallelism: each of several slices computes
 * some of the output channels of every convolution and linear layer, and what follows for these
 * channels alone. What reads all channels reads the result of a gather. Pure.
 */

struct net_slice {
    struct net *net;     /* what the slice computes: a network of its own, with NET_GATHER */
    size_t *offsets;     /* per param of it: where its first number is in the whole network's */
    int gather_count;    /* of them, the one of the logits included */
    double gather_bytes; /* of one row, all channels, forward and backward */
};

/*
 * Slice `index` of `count`. Neighbouring channels go together, in blocks of 16 where every slice
 * can have one. One slice is the whole network, without gathers. ERROR_USAGE says which layer
 * cannot be divided, and why. Release with net_slice_free.
 */
bool net_slice_make(const struct net *net, int index, int count, struct net_slice *out,
                    struct error *err);
void net_slice_free(struct net_slice *slice);

/* The slice's part of canonical numbers of the whole network, and back into its place there. */
void net_slice_take(const struct net_slice *slice, const float *whole, float *own);
void net_slice_put(const struct net_slice *slice, const float *own, float *whole);

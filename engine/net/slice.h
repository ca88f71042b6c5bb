/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/net/net.h"

/*
 * Networks divided inside their layers: each of several slices computes some of the output channels
 * of a convolution or linear layer, and what follows for these channels alone. What reads all
 * channels reads the result of a gather. Pure.
 */

enum net_division {
    NET_DIVIDE_LAYERS, /* all convolutions and linear layers: tensor parallelism */
    /* From the first linear layer on; what is before it each slice has whole, and computes it for
     * some of the rows (Krizhevsky 2014, "One weird trick", arXiv:1404.5997). */
    NET_DIVIDE_LINEAR,
};

struct net_slice {
    struct net *net;       /* what the slice computes: a network of its own, with gathers */
    int index;             /* which of the slices it is */
    size_t *offsets;       /* per param of it: where its first number is in the whole network's */
    bool *replicated;      /* per param of it: every slice has it whole */
    int gather_count;      /* of NET_GATHER and NET_GATHER_ROWS, the one of the logits included */
    double gather_numbers; /* of one row, all channels, forward and backward */
};

/*
 * Slice `index` of `count`. Neighbouring channels go together, in blocks of 16 where every slice
 * can have one. One slice is the whole network, without gathers. ERROR_USAGE says which layer
 * cannot be divided, and why. Release with net_slice_free.
 */
bool net_slice_make(const struct net *net, enum net_division division, int index, int count,
                    struct net_slice *out, struct error *err);
void net_slice_free(struct net_slice *slice);

/* The first of `channels` that slice `index` of `count` has; of the one after the last how many
 * there are. */
int net_slice_first(int channels, int index, int count);

/* The slice's part of canonical numbers of the whole network. */
void net_slice_take(const struct net_slice *slice, const float *whole, float *own);
/* Back into its place there: what is trained, or else the running statistics. What is replicated
 * the first slice puts back. */
void net_slice_put(const struct net_slice *slice, const float *own, bool trained, float *whole);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/plan/graph.h"

/* Where a parameter lies in the arenas of a replica. */
struct param_place {
    bool statistics; /* of BatchNorm: not trained */
    size_t offset;   /* floats into params, grads and each state, or into statistics */
    size_t size;     /* floats, padding included; a multiple of 16. 0: of another stage */
};

struct param_places {
    struct param_place *list;   /* per parameter of the network */
    size_t trained, statistics; /* floats of the arenas */
};

/* How many floats the weights of a convolution or linear layer take, as the backend lays them out;
 * *size is as many as they have, and is rounded up afterwards. */
typedef bool weights_size_function(void *context, const struct node *node, size_t *size,
                                   struct error *err);

/* For struct replica: of each 16 numbers of the arena of trained parameters, 1 for those with one
 * dimension, 0 for others. The caller's to free. */
uint8_t *param_places_spared(const struct net *net, const struct param_places *places,
                             struct error *err);

/* For struct replica: floats of the parameters that a slice that gathers rows has like all others,
 * which are the arena's last; 0 of another network. */
size_t param_places_replicated(const struct net *net, const struct param_places *places);

/* Give every parameter its place: trained ones in the order in which the backward pass completes
 * their gradients. The list is the caller's to free, on failure too. */
bool param_places_make(const struct graph *graph, weights_size_function *weights_size,
                       void *context, struct param_places *out, struct error *err);

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_PLAN_PARAM_PLACES_H
#define DPARTUI_ENGINE_DEVICE_PLAN_PARAM_PLACES_H

#include "engine/device/plan/graph.h"

/* Where a parameter lies in the arenas of a replica. */
struct param_place {
    bool statistics; /* of BatchNorm: not trained */
    size_t offset;   /* floats into params, grads and each state, or into statistics */
    size_t size;     /* floats, padding included; a multiple of 16 */
};

struct param_places {
    struct param_place *list;   /* per parameter of the network */
    size_t trained, statistics; /* floats of the arenas */
};

/* How many floats the weights of a convolution or linear layer take, as the backend lays them out;
 * *size is as many as they have, and is rounded up afterwards. */
typedef bool weights_size_function(void *context, const struct node *node, size_t *size,
                                   struct error *err);

/* Give every parameter its place: trained ones in the order in which the backward pass completes
 * their gradients. The list is the caller's to free, on failure too. */
bool param_places_make(const struct graph *graph, weights_size_function *weights_size,
                       void *context, struct param_places *out, struct error *err);

#endif

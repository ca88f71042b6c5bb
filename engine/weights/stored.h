/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/error.h"
#include "engine/weights/safetensors.h"
#include "engine/weights/weights.h"

/* One entry of a weights file: a param, what the optimizer keeps of one, or the counter of a
 * BatchNorm. */
struct stored {
    char *name;
    const struct net_param *param; /* NULL: num_batches_tracked */
    size_t offset;                 /* of its numbers */
};

struct stored_list {
    struct stored *items;
    size_t count, counters;
};

/* Everything that a weights file of this network holds, in module order. Lists must be released
 * by stored_free whatever the result. */
bool stored_weights(const struct net *net, struct stored_list *list, struct error *err);
/* What the optimizer keeps of each trained param, array by array. */
bool stored_state(const struct net *net, const struct state_arrays *arrays,
                  struct stored_list *list, struct error *err);
/* Which of the arrays a file of that has something of. False: not all of them, or also others. */
bool stored_arrays(const struct safetensors *file, const struct state_arrays *arrays,
                   bool found[STATE_ARRAYS]);
void stored_free(struct stored_list *list);

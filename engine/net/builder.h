/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/net/net.h"
#include "engine/net/params.h"

/*
 * Appends operations to a network one by one and works out shapes, names and params. It knows
 * nothing of the text that a network is read from but its name and line numbers.
 */

/* A name that is taken, and by which line. */
struct net_used_name {
    char *name;
    int line;
};

struct net_builder {
    struct net *net;
    const char *file; /* for messages; borrowed */
    int op_capacity, tensor_capacity, name_count, name_capacity;
    struct net_used_name *names;
    size_t row_values; /* of all tensors so far */
    /* Operations that have params, in the order in which these are to stand. */
    int modules[NET_MAX_OPS];
    int module_count;
};

/* Start a network with its input tensor; `file` names it in messages. */
bool net_builder_start(struct net_builder *builder, const char *file, struct net_shape input,
                       int classes, struct error *err);
/* Append an operation of which kind, line and settings are given, on tensor `input`, under its
 * whole dotted name ("": none); *output is the tensor it writes. */
bool net_builder_layer(struct net_builder *builder, const struct net_op *layer, const char *name,
                       int input, int *output, struct error *err);
/* Append the sum of two tensors of one shape: the end of the residual unit `name`. */
bool net_builder_sum(struct net_builder *builder, const char *name, int line, int left, int right,
                     int *output, struct error *err);
/* Take a name for a layer or group of layers; two of one name are found by net_builder_finish. */
bool net_builder_name(struct net_builder *builder, const char *name, int line, struct error *err);
/* Make `output` the logits and lay out the params. On success the network is the caller's. */
bool net_builder_finish(struct net_builder *builder, int output, struct net **out,
                        struct error *err);
/* Release what is left, the unfinished network included. */
void net_builder_free(struct net_builder *builder);

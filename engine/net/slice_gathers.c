/* SPDX-License-Identifier: MIT */
#include "engine/net/slice_gathers.h"

#include <stdlib.h>

bool slice_refuse(const struct net *net, int count, const struct net_op *op, const char *why,
                  struct error *err)
{
    return error_set(err, ERROR_USAGE,
                     "%s cannot be divided over %d devices: %s%s%s %s; use another strategy, or "
                     "another number of devices",
                     net->name, count, net_kind_name(op->kind), *op->name ? " " : "", op->name,
                     why);
}

static bool is_gather(const struct net_op *op)
{
    return op->kind == NET_GATHER || op->kind == NET_GATHER_ROWS;
}

/*
 * Every slice computes the loss, and so has the whole gradient of the logits, and of what they
 * follow from without a layer that is divided. Of what such a layer reads it has a part.
 */
enum gradient { GRADIENT_NONE, GRADIENT_WHOLE, GRADIENT_PART };

static bool find_gradients(struct net *slice, enum net_division division, int count,
                           enum gradient *gradients, struct error *err)
{
    gradients[slice->output] = GRADIENT_WHOLE;
    for (int i = slice->op_count; i-- > 0;) {
        struct net_op *op = &slice->ops[i];
        const enum net_access access = net_operation(op->kind)->access;
        const bool divides = access == NET_ALL_CHANNELS || access == NET_ALL_NUMBERS;
        const enum gradient gradient = divides ? GRADIENT_PART : gradients[op->output];
        op->parts = is_gather(op) && gradient == GRADIENT_PART;
        /* Before rows are gathered each slice has the gradients of its own. */
        if (is_gather(op) || (division == NET_DIVIDE_LINEAR && !op->global_batch))
            continue;
        for (int k = 0; k < net_operation(op->kind)->inputs; k++) {
            enum gradient *input = &gradients[op->inputs[k]];
            if (*input != GRADIENT_NONE && *input != gradient)
                return slice_refuse(
                    slice, count, op,
                    "reads what the logits are also computed from by layers that are not divided",
                    err);
            *input = gradient;
        }
    }
    return true;
}

/* A gather needs no exchange for a gradient that each slice has whole. */
bool slice_count_gathers(struct net_slice *slice, enum net_division division, int count,
                         struct error *err)
{
    struct net *net = slice->net;
    enum gradient *gradients = calloc((size_t)net->tensor_count, sizeof *gradients);
    bool ok = gradients ? find_gradients(net, division, count, gradients, err)
                        : error_memory(err, "a slice of the network");
    free(gradients);
    for (int i = 0; ok && i < net->op_count; i++) {
        const struct net_op *op = &net->ops[i];
        if (!is_gather(op))
            continue;
        slice->gather_count++;
        slice->gather_numbers +=
            (op->parts ? 2 : 1) * (double)net_shape_size(net->tensors[op->output].shape);
    }
    return ok;
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "engine/device/cpu/core/parameters.h"
#include "engine/device/plan/graph.h"

enum conv_direction { CONV_FORWARD, CONV_BACKWARD_DATA, CONV_BACKWARD_WEIGHTS };

/*
 * A convolution as the library sees it: channels filled up to whole blocks, the surplus being zero
 * in values, weights and gradients alike, so that its kernels need no special case for them. Those
 * of a grouped one are the network's: filled up they would be others' groups. The library itself
 * then skips the surplus of values. No padding between the members: shapes are compared as bytes.
 */
struct conv_shape {
    int rows;
    int in, in_h, in_w, in_block;
    int out, out_h, out_w, out_block;
    int groups;
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
    bool bias, relu;
    bool add;  /* FORWARD: to what the destination holds, before the ReLU */
    bool bf16; /* values are, and their gradients; weights and theirs are f32 */
};

/* Neither grouped nor dilated. */
static inline bool conv_is_plain(const struct conv_shape *shape)
{
    return shape->groups == 1 && shape->dilation_h == 1 && shape->dilation_w == 1;
}

struct filters conv_filters(const struct conv_shape *shape);

/* Of a convolution of the graph, over `rows` rows of numbers of a type. */
void conv_shape_of(struct conv_shape *shape, const struct graph *graph, const struct node *node,
                   int rows, bool bf16);

/* Where both sides have blocks of one size and there are no groups: the layout in which weights are
 * stored, OIhw16i16o or 8. NULL: no memory; release with compat_desc_free. */
desc_t conv_weights_desc(const struct conv_shape *shape);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/shape.h"
#include "engine/device/cpu/simd/processor.h"

/*
 * Sizes of Winograd's convolutions: F(4x4,3x3) for the passes that give 4x4 values and F(3x3,4x4)
 * for the one that gives 3x3 weights. Along a side the points are 0, two numbers with either
 * sign (maps.h, weights_tiles.h) and infinity; tiles of 3 do without the last of the four.
 */

#define WINOGRAD_TILE   6 /* pixels of the input in each direction, and points */
#define WINOGRAD_OUT    4 /* of the output */
#define WINOGRAD_POINTS (WINOGRAD_TILE * WINOGRAD_TILE)

#define WINOGRAD_SKIPPED 4 /* the point along a side that a tile of 3 does without */

/* The tiles of a side of `outputs`: as many of 3 as make up for what 4 does not divide. A
 * side too short for that has tiles of 3 alone, which hang over. */
struct winograd_cut {
    int fours, threes;
};

static inline struct winograd_cut winograd_cut(int outputs)
{
    const int threes = (4 - outputs % 4) % 4;
    if (outputs < 3 * threes)
        return (struct winograd_cut){0, (outputs + 2) / 3};
    return (struct winograd_cut){(outputs - 3 * threes) / 4, threes};
}

/* Whether the kernels take a shape of values of this type, with a padding of at most `most_pad`. */
static inline bool winograd_fits(const struct conv_shape *s, bool bf16, int most_pad)
{
    return s->bf16 == bf16 && s->kernel_h == 3 && s->kernel_w == 3 && s->stride_h == 1 &&
           s->stride_w == 1 && s->pad_h <= most_pad && s->pad_w <= most_pad &&
           s->in_block == s->out_block && (s->in_block == 8 || s->in_block == 16) && s->rows > 0 &&
           s->out_h > 0 && s->out_w > 0 && (!bf16 || processor_has_dots(s->in_block));
}

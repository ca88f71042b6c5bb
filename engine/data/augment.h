/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/*
 * Changes to training pictures that the network should not care about, drawn in every epoch as
 * a pure function of (seed, epoch, row of the data set): the same on every device and for every
 * split. Words of src/base/rng.h, purpose AUGMENT, index 0, a the row, b the epoch:
 *
 *   element 0   FLIP: mirrored left to right when the word's highest bit is set
 *   element 1   CROP: the picture moves down by word % 9 - 4 pixels,
 *   element 2   and to the right likewise; what comes in at the edges is pixel 0
 *
 * (a random crop of the picture with 4 pixels of border, as is usual for CIFAR-10: K. He et al.
 * 2015, section 4.2). The crop is taken of the flipped picture.
 */
enum augment_flags { AUGMENT_NONE, AUGMENT_FLIP, AUGMENT_CROP, AUGMENT_FLIP_CROP };

enum { AUGMENT_BORDER = 4 };

/* The arithmetic of it, for the kernels of every backend. */
#ifdef __CUDACC__
#define AUGMENT_INLINE static inline __host__ __device__
#else
#define AUGMENT_INLINE static inline
#endif

/* What happens to one picture: mirrored first, then moved. */
struct augment_change {
    int flip, down, right;
};

/* From elements 0 to 3 of the picture's stream, which make one block. */
AUGMENT_INLINE struct augment_change augment_change_of(const uint32_t words[4], uint32_t flags)
{
    struct augment_change change = {0, 0, 0};
    if (flags & AUGMENT_FLIP)
        change.flip = (int)(words[0] >> 31);
    if (flags & AUGMENT_CROP) {
        change.down = (int)(words[1] % (2 * AUGMENT_BORDER + 1)) - AUGMENT_BORDER;
        change.right = (int)(words[2] % (2 * AUGMENT_BORDER + 1)) - AUGMENT_BORDER;
    }
    return change;
}

/* Which pixel (y * w + x) of the picture as stored is seen at (y, x); -1: one that came in at an
 * edge. */
AUGMENT_INLINE int augment_source(struct augment_change change, int y, int x, int h, int w)
{
    const int from_y = y - change.down, from_x = x - change.right;
    if (from_y < 0 || from_y >= h || from_x < 0 || from_x >= w)
        return -1;
    return from_y * w + (change.flip ? w - 1 - from_x : from_x);
}

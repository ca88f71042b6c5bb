/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/augment.h"
#include "engine/device/cuda/kernels/philox.h"

/* What augmentation does to row `row` of the data. */
static inline HOST_DEVICE struct augment_change
picture_change_of(const uint32_t key[2], uint32_t epoch, uint32_t row, uint32_t flags)
{
    const struct augment_change none = {0, 0, 0};
    uint32_t words[4];
    if (flags == 0)
        return none;
    philox_block(key, 0, row, epoch, RNG_AUGMENT, 0, words);
    return augment_change_of(words, flags);
}

/* A tap of a convolution's window: place and channel that column `tap` of the im2col matrix
 * reads. */
struct tap {
    int ky, kx, channel;
};

static inline HOST_DEVICE struct tap tap_of(int tap, int kernel_w, int channels)
{
    const int place = tap / channels;
    struct tap t = {place / kernel_w, place % kernel_w, tap % channels};
    return t;
}

/* The next tap. */
static inline HOST_DEVICE struct tap tap_next(struct tap t, int kernel_w, int channels)
{
    if (++t.channel == channels) {
        t.channel = 0;
        if (++t.kx == kernel_w) {
            t.kx = 0;
            t.ky++;
        }
    }
    return t;
}

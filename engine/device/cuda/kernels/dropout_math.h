/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cuda/kernels/philox.h"

/* Of one row: where its random words come from. */
struct dropout_row {
    uint32_t key[2], id, epoch, op, threshold;
};

/*
 * Which of `channels` (4 or 8) from `channel` on are kept at `count`
 * neighbouring pixels: bit 8 * i + k says so for pixel + i, channel + k; count <= 4. An element's
 * number is its place in c,h,w order, four of them share a block; pixel and pixels are multiples of
 * 4 when count is 4, so that each channel needs one block alone.
 */
static inline HOST_DEVICE uint32_t dropout_kept(const struct dropout_row *row, uint32_t channel,
                                                int channels, uint32_t pixels, uint32_t pixel,
                                                int count)
{
    uint32_t kept = 0, words[4] = {0, 0, 0, 0}, block = 0;
    for (int k = 0; k < channels; k++) {
        for (int i = 0; i < count; i++) {
            const uint32_t element = (channel + (uint32_t)k) * pixels + pixel + (uint32_t)i;
            if ((k == 0 && i == 0) || element / 4 != block) {
                block = element / 4;
                philox_block(row->key, block, row->id, row->epoch, RNG_DROPOUT, row->op, words);
            }
            const uint32_t place = element % 4; /* no indexing: words stay in registers */
            const uint32_t low = place & 1 ? words[1] : words[0];
            const uint32_t high = place & 1 ? words[3] : words[2];
            if ((place & 2 ? high : low) >= row->threshold)
                kept |= 1u << (8 * i + k);
        }
    }
    return kept;
}

/* SPDX-License-Identifier: MIT */
#include "engine/data/draw.h"

#include <math.h>

/*
 * Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011.
 */
static void philox(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
    uint32_t k0 = key[0], k1 = key[1];
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xd2511f53u * c0, b = (uint64_t)0xcd9e8d57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

struct draws draw_begin(uint64_t seed, enum draw_stream stream, uint32_t row)
{
    return (struct draws){.seed = seed, .stream = stream, .row = row};
}

uint32_t draw_word(struct draws *draws)
{
    if (!draws->left) {
        const uint32_t key[2] = {(uint32_t)draws->seed, (uint32_t)(draws->seed >> 32)};
        const uint32_t counter[4] = {draws->block++, draws->row, draws->stream, 0};
        philox(key, counter, draws->word);
        draws->left = 4;
    }
    return draws->word[--draws->left];
}

int draw_range(struct draws *draws, int low, int high)
{
    uint64_t span = (uint64_t)(high - low) + 1;
    return low + (int)(draw_word(draws) * span >> 32);
}

int draw_middle(struct draws *draws, int low, int high)
{
    return (draw_range(draws, low, high) + draw_range(draws, low, high)) / 2;
}

double draw_normal(struct draws *draws)
{
    /* Box and Muller; u is in (0,1], so the logarithm is finite. */
    double u = (draw_word(draws) + 1.0) * 0x1p-32, v = draw_word(draws) * 0x1p-32;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

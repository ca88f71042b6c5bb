/* SPDX-License-Identifier: MIT */
#include "engine/train/split/order.h"

#include <stddef.h>

#include "base/rng.h"

/*
 * Small numbers of rows use a larger network than they need: on one or two bits a half, there are
 * too few round functions to reach all permutations equally often.
 */
enum { MIN_HALF_BITS = 4 };

struct order order_make(enum row_order kind, uint64_t seed, uint32_t epoch, uint32_t rows)
{
    struct order order = {.kind = kind, .rows = rows, .half_bits = MIN_HALF_BITS};
    struct rng_stream stream = rng_stream(seed, RNG_SHUFFLE, 0, epoch, 0);
    while (order.half_bits < 16 && (UINT64_C(1) << (2 * order.half_bits)) < rows)
        order.half_bits++;
    for (size_t i = 0; i < ORDER_ROUNDS / 4; i++)
        rng_block(&stream, (uint32_t)i, order.keys + 4 * i);
    return order;
}

/* MurmurHash3's finaliser (A. Appleby, public domain): every input bit reaches every output bit. */
static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= UINT32_C(0x85ebca6b);
    x ^= x >> 13;
    x *= UINT32_C(0xc2b2ae35);
    return x ^ (x >> 16);
}

static uint32_t feistel(const struct order *order, uint32_t x)
{
    uint32_t mask = (UINT32_C(1) << order->half_bits) - 1;
    uint32_t left = x >> order->half_bits, right = x & mask;
    for (int i = 0; i < ORDER_ROUNDS; i++) {
        uint32_t next = left ^ (mix(right + order->keys[i]) & mask);
        left = right;
        right = next;
    }
    return left << order->half_bits | right;
}

uint32_t order_row(const struct order *order, uint32_t position)
{
    if (order->kind == ORDER_SEQUENTIAL)
        return position;
    /* The walk ends: the network permutes its domain, so the cycle comes back to `position`. */
    do
        position = feistel(order, position);
    while (position >= order->rows);
    return position;
}

void order_fill(const struct order *order, uint32_t *rows)
{
    for (uint32_t i = 0; i < order->rows; i++)
        rows[i] = order_row(order, i);
}

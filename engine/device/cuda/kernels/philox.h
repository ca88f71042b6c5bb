/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/rng_purpose.h"
#include "engine/device/host_device.h"

/* The four words of a block of the stream (purpose, index, a, b): those of rng_block in
 * src/base/rng.h, by the same generator, Philox4x32-10. */
static inline HOST_DEVICE void philox_block(const uint32_t key[2], uint32_t block, uint32_t a,
                                            uint32_t b, uint32_t purpose, uint32_t index,
                                            uint32_t out[4])
{
    const uint32_t m0 = 0xD2511F53u, m1 = 0xCD9E8D57u, w0 = 0x9E3779B9u, w1 = 0xBB67AE85u;
    uint32_t c0 = block, c1 = a, c2 = b, c3 = purpose << 24 | index;
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)m0 * c0, p1 = (uint64_t)m1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += w0;
        k1 += w1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

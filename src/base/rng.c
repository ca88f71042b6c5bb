/* SPDX-License-Identifier: MIT */
#include "base/rng.h"

#include <math.h>

/* Constants of the paper: multipliers, and the Weyl sequence that the key runs through. */
#define PHILOX_M0     UINT32_C(0xD2511F53)
#define PHILOX_M1     UINT32_C(0xCD9E8D57)
#define PHILOX_W0     UINT32_C(0x9E3779B9)
#define PHILOX_W1     UINT32_C(0xBB67AE85)
#define PHILOX_ROUNDS 10

#define TWO_PI 6.283185307179586476925286766559

void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)PHILOX_M0 * c0;
        uint64_t p1 = (uint64_t)PHILOX_M1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += PHILOX_W0;
        k1 += PHILOX_W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

struct rng_stream rng_stream(uint64_t seed, enum rng_purpose purpose, uint32_t index, uint32_t a,
                             uint32_t b)
{
    return (struct rng_stream){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .tail = {a, b, (uint32_t)purpose << 24 | index},
    };
}

void rng_block(const struct rng_stream *stream, uint32_t block, uint32_t out[4])
{
    const uint32_t counter[4] = {block, stream->tail[0], stream->tail[1], stream->tail[2]};
    rng_philox(counter, stream->key, out);
}

uint32_t rng_word(const struct rng_stream *stream, uint64_t element)
{
    uint32_t words[4];
    rng_block(stream, (uint32_t)(element / 4), words);
    return words[element % 4];
}

static double unit(uint32_t word)
{
    return ((double)word + 0.5) * 0x1p-32;
}

double rng_uniform(const struct rng_stream *stream, uint64_t element)
{
    return unit(rng_word(stream, element));
}

double rng_normal(const struct rng_stream *stream, uint64_t element)
{
    uint32_t words[4];
    rng_block(stream, (uint32_t)(element / 4), words);
    const uint32_t *pair = words + (element & 2);
    double radius = sqrt(-2 * log(unit(pair[0])));
    double angle = TWO_PI * unit(pair[1]);
    return element & 1 ? radius * sin(angle) : radius * cos(angle);
}

uint32_t rng_threshold(double p)
{
    return (uint32_t)(p * 0x1p32);
}

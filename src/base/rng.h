/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "base/rng_purpose.h"

/*
 * Random numbers as a pure function of (seed, purpose, counter): nothing is kept between calls, so
 * every thread, device and resumed run computes the same numbers, in any order.
 *
 * The generator is Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", SC11. It turns a counter of four 32-bit words and a key of
 * two into four random words. This program fills them as follows; other implementations (kernels
 * of a device backend) must do the same:
 *
 *     key[0], key[1]   low and high half of the seed
 *     counter[0]       block: element / 4
 *     counter[1]       a
 *     counter[2]       b
 *     counter[3]       purpose << 24 | index
 *
 * Element e is word e % 4 of block e / 4. What index, a and b mean depends on the purpose:
 *
 *     purpose      index        a            b       element
 *     INIT         param        0            0       place in the param, row-major
 *     SHUFFLE      0            epoch        0       up to the user
 *     DROPOUT      operation    row number   epoch   place in the row, in c,h,w order
 *     GLYPHS       part         row          0       up to the user
 *     RANDOM_DATA  part         row          0       column; labels follow the columns
 *     AUGMENT      0            row number   epoch   see engine/data/augment.h
 *     VALIDATION   0            0            0       row number
 *
 * Dropout drops the element when its word < rng_threshold(p). The row number counts from 0 in the
 * data set, not in the shard, so a mask does not depend on how rows are split over devices.
 */

#define RNG_INDEX_LIMIT (UINT32_C(1) << 24)

struct rng_stream {
    uint32_t key[2];
    uint32_t tail[3]; /* counter[1..3] */
};

/* The stream of one purpose; index < RNG_INDEX_LIMIT. */
struct rng_stream rng_stream(uint64_t seed, enum rng_purpose purpose, uint32_t index, uint32_t a,
                             uint32_t b);

/* The bare generator. */
void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Elements 4*block .. 4*block+3 at once. */
void rng_block(const struct rng_stream *stream, uint32_t block, uint32_t out[4]);

/* One element; element < 2^34 here and below. */
uint32_t rng_word(const struct rng_stream *stream, uint64_t element);

/* Uniform in the open interval (0,1): (word + 1/2) / 2^32. */
double rng_uniform(const struct rng_stream *stream, uint64_t element);

/*
 * Standard normal (Box and Muller, 1958) from the uniforms u, v of elements 2i and 2i+1: element 2i
 * is sqrt(-2 ln u) cos(2 pi v), element 2i+1 has the sine.
 */
double rng_normal(const struct rng_stream *stream, uint64_t element);

/* For an event of probability p in [0,1): it happens when a word is below this number. */
uint32_t rng_threshold(double p);

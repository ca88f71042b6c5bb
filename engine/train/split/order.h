/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "spec/spec.h"

/*
 * In which order an epoch takes the rows: a keyed permutation of 0..rows-1, a pure function of
 * (seed, epoch, rows). No state is kept, so any part of any epoch can be computed anywhere.
 *
 * The permutation is a balanced Feistel network (M. Luby, C. Rackoff, "How to construct
 * pseudorandom permutations", 1988) on the smallest even number of bits that can hold the rows,
 * with keys from the generator of src/base/rng.h; numbers out of range are sent through again
 * ("cycle walking": J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", 2002).
 */

enum { ORDER_ROUNDS = 8 };

struct order {
    enum row_order kind;
    uint32_t rows;
    int half_bits;
    uint32_t keys[ORDER_ROUNDS];
};

/* rows >= 1; `epoch` counts from 1. */
struct order order_make(enum row_order kind, uint64_t seed, uint32_t epoch, uint32_t rows);

/* The row at `position` < rows. */
uint32_t order_row(const struct order *order, uint32_t position);

/* The whole order: rows[0..order->rows-1]. */
void order_fill(const struct order *order, uint32_t *rows);

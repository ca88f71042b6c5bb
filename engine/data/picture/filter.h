/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Weighted sums of bytes, the inner loops of resizing. Weights are whole numbers of 2^-22, sums are
 * rounded to bytes. A weight is stored as two numbers of 11 bits, because vectors multiply numbers
 * of 16 bits and add the products in pairs.
 */
#define FILTER_BITS 22

struct filter {
    int first, count;          /* of the inputs of one output */
    const int16_t *low, *high; /* weight i is high[i] * 2048 + low[i]; then FILTER_REST zeros */
};

#define FILTER_REST 3 /* weights after the last one that may be read */

/* Bytes that may be read, and mean nothing, after those of any input. */
#define FILTER_SLACK 16

/* Store a weight of 0 to 2^22. */
static inline void filter_split(int32_t weight, int16_t *low, int16_t *high)
{
    *low = (int16_t)(weight & 2047);
    *high = (int16_t)(weight >> 11);
}

enum { FILTER_ROWS = 4 }; /* that go across side by side, as their weights are the same */

/* Output pixels of a few rows, each from one input row: filters[i] makes pixel i, of 1 or 3
 * channels. */
void filter_across(const struct filter *filters, int outputs, int channels,
                   const uint8_t *const from[FILTER_ROWS], uint8_t *const out[FILTER_ROWS]);

/* A row of `bytes` bytes from several: rows `first` to `first` + `count` - 1 of `from`. */
void filter_down(const struct filter *filter, const uint8_t *from, size_t bytes, uint8_t *out);

/* The channels of `pixels` pixels of three, each by itself. */
void filter_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3]);

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
    const int16_t *low, *high; /* weight i is high[i] * 2048 + low[i]; then two zeros */
};

/* Bytes that may be read, and mean nothing, after those of any input. */
#define FILTER_SLACK 64

/* Store a weight of 0 to 2^22. */
static inline void filter_split(int32_t weight, int16_t *low, int16_t *high)
{
    *low = (int16_t)(weight & 2047);
    *high = (int16_t)(weight >> 11);
}

/* A few rows of pixels, `step` bytes from one to the next. */
struct strip {
    const uint8_t *bytes;
    size_t step;
    int rows;
};

/* Output pixels of a strip of three channels: filters[i] makes pixel i of each row. Their counts
 * differ by one at most. */
void filter_across(const struct filter *filters, int outputs, const struct strip *from,
                   uint8_t *out, size_t out_step);

enum { FILTER_WOVEN = 4 };

/* The same of rows of one channel, of which filter_weave() has made pixels of four: each row of the
 * strip becomes four rows. */
void filter_across_woven(const struct filter *filters, int outputs, const struct strip *from,
                         uint8_t *out, size_t out_step);

/* Byte 0 of four rows, byte 1 of each, and so on. */
void filter_weave(const uint8_t *const from[FILTER_WOVEN], size_t pixels, uint8_t *out);

/* A row of `bytes` bytes from several: rows `first` to `first` + `count` - 1 of `from`. */
void filter_down(const struct filter *filter, const uint8_t *from, size_t bytes, uint8_t *out);

/* The channels of `pixels` pixels of three, each by itself. */
void filter_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3]);

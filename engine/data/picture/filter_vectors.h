/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "engine/data/picture/filter.h"

/* Inner loops of filter.c on vectors of 32 and 64 bytes, with the same results. */
#if defined __x86_64__
#define FILTER_VECTORS

/* Can this processor run filter_avx512_*? Those of avx2 need what is called so. */
bool filter_has_avx512(void);

/* As filter_across and, with pixels of 4 bytes, filter_across_woven. False if the filters are too
 * long, or too far apart, and nothing was done. */
bool filter_avx2_across(const struct filter *filters, int outputs, int bytes,
                        const struct strip *from, uint8_t *out, size_t out_step);
bool filter_avx512_across(const struct filter *filters, int outputs, int bytes,
                          const struct strip *from, uint8_t *out, size_t out_step);

/* As filter_down. Those of avx2, also below, do as much as whole vectors hold, and return how much.
 */
size_t filter_avx2_down(const struct filter *filter, const uint8_t *from, size_t bytes,
                        uint8_t *out);
void filter_avx512_down(const struct filter *filter, const uint8_t *from, size_t bytes,
                        uint8_t *out);

/* As filter_planes. */
size_t filter_avx2_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3]);
void filter_avx512_planes(const uint8_t *from, size_t pixels, uint8_t *const out[3]);

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/picture/filter.h"

/* Inner loops of filter.c on vectors of 32 bytes, with the same results. Only processors with AVX2
 * can run them. */
#if defined __x86_64__
#define FILTER_AVX2

/* As filter_across, of three channels. */
void filter_avx2_across(const struct filter *filters, int outputs,
                        const uint8_t *const from[FILTER_ROWS], uint8_t *const out[FILTER_ROWS]);
/* As filter_down, of as many bytes as whole vectors hold: returns how many. */
size_t filter_avx2_down(const struct filter *filter, const uint8_t *from, size_t bytes,
                        uint8_t *out);

#endif

/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

/* 12 sums, 2 vectors of weights and a number of V are in registers. */
#define GROUP 6

#include "engine/device/cpu/winograd/blocked.h"

const struct winograd_kernels winograd_avx2 = {.lanes = LANES,
                                               .tiles = GROUP,
                                               .vectors = 2,
                                               .fetch = fetch,
                                               .input = input,
                                               .weights = weights,
                                               .multiply = multiply,
                                               .output = output};

#endif

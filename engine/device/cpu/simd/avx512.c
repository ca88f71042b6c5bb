/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/simd/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#include "engine/device/cpu/simd/blocked.h"

const struct kernels kernels_avx512 = {.block = LANES,
                                       .norm_sums = norm_sums,
                                       .norm_forward = norm_forward,
                                       .norm_backward_sums = norm_backward_sums,
                                       .norm_backward_data = norm_backward_data};

#endif

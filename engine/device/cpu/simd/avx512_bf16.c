/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h by AVX-512, on values of bf16. */
#include "engine/device/cpu/simd/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#define NUMBER_BF16
#define KERNELS kernels_avx512_bf16
#include "engine/device/cpu/simd/blocked.h"

#endif

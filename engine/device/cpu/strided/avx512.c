/* SPDX-License-Identifier: MIT */
/* The kernels of kernels.h by AVX-512. */
#include "engine/device/cpu/strided/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#define STRIDED_KERNELS strided_avx512
#include "engine/device/cpu/strided/blocked.h"

#endif

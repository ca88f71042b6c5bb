/* SPDX-License-Identifier: MIT */
/* The kernels of kernels.h by AVX2. */
#include "engine/device/cpu/strided/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

#define STRIDED_KERNELS strided_avx2
#include "engine/device/cpu/strided/blocked.h"

#endif

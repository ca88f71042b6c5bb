/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h by AVX2. */
#include "engine/device/cpu/winograd/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

#define WINOGRAD_KERNELS winograd_avx2
#include "engine/device/cpu/winograd/blocked.h"
#include "engine/device/cpu/winograd/transforms.h"

#include "engine/device/cpu/winograd/table.h"

#endif

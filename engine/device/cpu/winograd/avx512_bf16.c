/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h over values of bf16 by AVX-512. */
#include "engine/device/cpu/winograd/kernels.h"

#if defined(__x86_64__)

#define V_DOTS
#include "engine/device/cpu/simd/vector_avx512.h"

#define NUMBER_BF16
#define WINOGRAD_KERNELS winograd_avx512_bf16
#include "engine/device/cpu/winograd/fixed.h"
#include "engine/device/cpu/winograd/transforms.h"

#include "engine/device/cpu/winograd/table.h"

#endif

/* SPDX-License-Identifier: MIT */
/* The loops of weights.h over values of bf16 by AVX-512. */
#include "engine/device/cpu/winograd/weights.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#define NUMBER_BF16
#define WINOGRAD_TRANSFORMS winograd_weights_transforms_16_bf16
#include "engine/device/cpu/winograd/weights_tiles.h"

#endif

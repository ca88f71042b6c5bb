/* SPDX-License-Identifier: MIT */
/* The loops of weights.h over values of bf16 by AVX2. */
#include "engine/device/cpu/winograd/weights.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

#define NUMBER_BF16
#define WINOGRAD_TRANSFORMS winograd_weights_transforms_8_bf16
#include "engine/device/cpu/winograd/weights_tiles.h"

#endif

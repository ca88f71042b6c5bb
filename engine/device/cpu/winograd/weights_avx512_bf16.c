/* SPDX-License-Identifier: MIT */
/* The loops of weights.h over values of bf16 by AVX-512. */
#include "engine/device/cpu/winograd/weights.h"

#if defined(__x86_64__)

#define V_DOTS
#include "engine/device/cpu/simd/vector_avx512.h"

#define NUMBER_BF16
#define WINOGRAD_WEIGHTS winograd_weights_avx512_bf16
#include "engine/device/cpu/winograd/weights_tiles.h"

#include "engine/device/cpu/winograd/weights_fixed.h"

#include "engine/device/cpu/winograd/weights_table.h"

#endif

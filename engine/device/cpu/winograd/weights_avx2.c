/* SPDX-License-Identifier: MIT */
/* The kernel of weights.h by AVX2. */
#include "engine/device/cpu/winograd/weights.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

#define WINOGRAD_TRANSFORMS      winograd_weights_transforms_8
#define WINOGRAD_TRANSFORMS_BF16 winograd_weights_transforms_8_bf16
#define WINOGRAD_WEIGHTS         winograd_weights_8
#include "engine/device/cpu/winograd/weights_blocked.h"
#include "engine/device/cpu/winograd/weights_tiles.h"

#endif

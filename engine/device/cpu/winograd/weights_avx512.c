/* SPDX-License-Identifier: MIT */
/* The loops of weights.h by AVX-512. */
#include "engine/device/cpu/winograd/weights.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#define WINOGRAD_WEIGHTS winograd_weights_avx512
#include "engine/device/cpu/winograd/weights_tiles.h"

#include "engine/device/cpu/winograd/weights_blocked.h"

#include "engine/device/cpu/winograd/weights_table.h"

#endif

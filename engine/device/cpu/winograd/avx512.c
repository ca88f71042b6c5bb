/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h by AVX-512. */
#include "engine/device/cpu/winograd/kernels.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx512.h"

#define WINOGRAD_TRANSFORMS      winograd_transforms_avx512
#define WINOGRAD_TRANSFORMS_BF16 winograd_transforms_avx512_bf16
#define WINOGRAD_KERNELS         winograd_avx512
#include "engine/device/cpu/winograd/blocked.h"
#include "engine/device/cpu/winograd/transforms.h"

#endif

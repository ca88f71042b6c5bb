/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/strided/kernels.h"
#include "engine/device/cpu/strided/plan.h"

#if defined(__x86_64__)

#include <omp.h>

#include "engine/device/cpu/simd/vector_avx512.h"

#define STRIDED_KERNELS strided_avx512
#include "engine/device/cpu/strided/blocked.h"

#endif

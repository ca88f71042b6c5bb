/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/strided/strided.h"

#if defined(__x86_64__)

#include <omp.h>

#include "engine/device/cpu/simd/vector_avx512.h"

#define STRIDED_METHODS strided_avx512
#include "engine/device/cpu/strided/blocked.h"

#endif

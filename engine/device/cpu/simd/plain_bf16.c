/* SPDX-License-Identifier: MIT */
/* The loops of kernels.h in plain C, on values of bf16. */
#include "engine/device/cpu/simd/kernels.h"

#define NUMBER_BF16
#define KERNELS kernels_plain_bf16
#include "engine/device/cpu/simd/plain_loops.h"

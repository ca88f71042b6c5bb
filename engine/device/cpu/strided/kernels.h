/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/* Per instruction set: the kernels of the three directions, in the order of enum conv_direction. */
#if defined(__x86_64__)
extern const struct conv_kernel strided_avx512[3], strided_avx2[3];
#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/*
 * Convolutions of bf16 by the processor's matrix unit (Intel's AMX; Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 1, chapter 18): products of bf16 with sums in
 * f32, of windows and strides of any size. Weights are rounded to bf16 in each pass. Values are
 * packed into tiles that hold the same pixel of 16 or 32 rows of a batch. A window then reads whole
 * tiles wherever it lies, and skips those of its padding. The same by AVX512_BF16, with tiles in
 * memory.
 */

/* In the order of enum conv_direction. They fit nothing where the processor has no such unit, or
 * the compiler does not know it. */
extern const struct conv_kernel amx_kernels[3], amx_avx512_kernels[3];

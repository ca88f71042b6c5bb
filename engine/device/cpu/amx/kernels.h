/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/*
 * Convolutions of bf16 by the processor's matrix unit (Intel's AMX; Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 1, chapter 18): products of bf16 with sums in
 * f32, of windows and strides of any size. Weights are rounded to bf16 in each pass. Values are
 * brought into tiles in which the rows of a batch lie beside one another, so that what a window
 * reads is whole tiles wherever it lies, and its padding is tiles left out.
 */

/* Compilers that know its instructions. */
#if defined(__x86_64__) && (defined(__clang__) ? __clang_major__ >= 12 : __GNUC__ >= 11)
#define HAVE_AMX
/* In the order of enum conv_direction. They fit nothing where the processor has no such unit. */
extern const struct conv_kernel amx_kernels[3];
#endif

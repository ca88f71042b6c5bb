/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/* Forward and data gradient, for blocks of 16 and 8: for values of f32, and of bf16 with products
 * of integers of 16 bits (fixed.h). */
extern const struct conv_kernel winograd_forward_16[2], winograd_forward_8[2];
extern const struct conv_kernel winograd_data_16[2], winograd_data_8[2];

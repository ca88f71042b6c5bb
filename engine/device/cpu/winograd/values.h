/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/* Forward and data gradient, for blocks of 16 and 8. */
extern const struct conv_kernel winograd_forward_16, winograd_forward_8;
extern const struct conv_kernel winograd_data_16, winograd_data_8;

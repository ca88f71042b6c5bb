/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"

/* The kernels of engine/device/cpu/amx with tiles and vectors in plain C, for any processor. */
extern const struct conv_kernel emulated_amx_kernels[3];

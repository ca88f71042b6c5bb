/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_WINOGRAD_VALUES_H
#define DPARTUI_ENGINE_DEVICE_CPU_WINOGRAD_VALUES_H

#include "engine/device/cpu/conv/kernel.h"

/* Forward and data gradient, for blocks of 16 and 8. */
extern const struct conv_kernel winograd_forward_16, winograd_forward_8;
extern const struct conv_kernel winograd_data_16, winograd_data_8;

#endif

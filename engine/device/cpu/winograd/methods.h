/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_WINOGRAD_METHODS_H
#define DPARTUI_ENGINE_DEVICE_CPU_WINOGRAD_METHODS_H

#include "engine/device/cpu/conv/method.h"

/* Forward and data gradient by winograd.h, for blocks of 16 and 8. */
extern const struct conv_method winograd_forward_16, winograd_forward_8;
extern const struct conv_method winograd_data_16, winograd_data_8;

#endif

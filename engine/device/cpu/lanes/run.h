/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_LANES_RUN_H
#define DPARTUI_ENGINE_DEVICE_CPU_LANES_RUN_H

#include "engine/device/cpu/lanes/net.h"

/* The step of a plan of lanes/build.h, on its struct lanes_net: a whole pass. */
step_function lanes_run;

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/lanes/net.h"

/* The step of a plan of lanes/build.h, on its struct lanes_net: a whole pass. */
step_function lanes_run;

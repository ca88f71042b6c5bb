/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_LANES_FINISH_H
#define DPARTUI_ENGINE_DEVICE_CPU_LANES_FINISH_H

#include "engine/device/cpu/lanes/net.h"

/* A thread's part in the gradients of an operation with weights, when all groups are through. */
void lanes_finish(const struct lanes_net *net, const struct lanes_op *op, int part, int parts);

#endif

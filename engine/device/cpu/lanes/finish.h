/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/lanes/net.h"

/* A thread's part in the gradients of an operation with weights, when all groups are through. */
void lanes_finish(const struct lanes_net *net, const struct lanes_op *op, int part, int parts);

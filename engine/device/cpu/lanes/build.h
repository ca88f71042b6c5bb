/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/lanes/net.h"

/* Whether a network suits: a chain of small operations. `graph` has blocks of one channel. Fails
 * only when memory runs out. */
bool lanes_suit(const struct device *device, const struct graph *graph, bool *suit,
                struct error *err);
/* Builds plans of one step, lanes_run, for networks that suit. Those with a profile have more
 * steps, which do nothing but stand for an operation, whose time lanes_run notes. */
extern const struct build_backend lanes_build_backend;

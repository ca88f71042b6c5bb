/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/net/net.h"

/* The losses of a run in bf16 beside those in f32, step by step; fails the running check where they
 * are too far from each other. `common`: the settings of both; at most 256 steps. Files go to
 * `folder`. */
void trajectory_check(const char *folder, const char *model, struct net_shape shape,
                      const char *common);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/autotune/algorithms.h"

struct conv_timing {
    double seconds; /* of the fastest run; -1 where the library lacks the algorithm */
    int calm_runs;  /* in which no thread of this process lost its CPU */
};

/*
 * timings[i] is that of list[i], after a run to warm up. Algorithms take turns until each has had
 * `runs` calm runs, or is far slower than another, or the machine is too busy. Disturbed runs count
 * only where an algorithm had no calm one. The time includes reordering weights where the library
 * wants another layout. Values have blocks of one size on both sides; memory is the measurement's
 * own.
 */
bool conv_measure(struct device *device, const struct conv_shape *shape,
                  enum conv_direction direction, const struct conv_algorithm *list, int count,
                  int runs, struct conv_timing *timings, struct error *err);

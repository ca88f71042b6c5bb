/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CONV_TRIAL_H
#define DPARTUI_ENGINE_DEVICE_CPU_CONV_TRIAL_H

#include "engine/device/cpu/conv/method.h"

/* Measuring ways of a convolution, on memory of their own. */

#define CONV_WAYS 8 /* at most, of one shape and direction */

/*
 * The library's direct algorithm first, then the methods of our own that this shape allows, then
 * the library's Winograd: it has to be clearly faster than ours, which does part of a BatchNorm's
 * work beside its own (conv/beside.h). Gives their number.
 */
int conv_ways(const struct conv_shape *shape, enum conv_direction direction,
              struct conv_way ways[CONV_WAYS]);

struct conv_timing {
    double seconds; /* of the quickest run; -1 where the library lacks the algorithm */
    int calm_runs;  /* in which no thread of this process lost its CPU */
};

/*
 * timings[i]: of ways[i], behind a run that warms up, the ways taking turns until each had `runs`
 * calm ones, or is far behind another, or the machine has too much else to do. Runs that were
 * disturbed count only where no other is. What the library wants in another layout of weights is
 * part of its time. Both sides have blocks of one size.
 */
bool conv_measure(struct device *device, const struct conv_shape *shape,
                  enum conv_direction direction, const struct conv_way *ways, int count, int runs,
                  struct conv_timing *timings, struct error *err);

/* conv/memory.c: the way that an earlier process found to be fastest, by number; -1: none. */
int conv_recall(const struct conv_shape *shape, enum conv_direction direction, int threads,
                const struct conv_way *ways, int count);

/* Keep it for later processes, where that is possible. */
void conv_remember(const struct conv_shape *shape, enum conv_direction direction, int threads,
                   struct conv_way way, double seconds);

#endif

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/autotune/algorithms.h"
#include "engine/device/plan/builder.h"

/*
 * The fastest algorithm for this shape on this device. The first to ask for a shape measures, on
 * the device's thread, with its whole team, for up to several seconds, and holds a lock of the
 * process meanwhile; the result is kept in the user's cache folder. Devices that estimate or are
 * deterministic never measure.
 */
bool conv_choose(struct device *device, const struct conv_shape *shape,
                 enum conv_direction direction, struct conv_algorithm *out, struct error *err);

/* Whether a direction of a convolution is computed by a kernel that fuses (conv/fusion.h). */
bool conv_fuses(const struct builder *b, const struct node *node, enum conv_direction direction,
                bool *yes, struct error *err);

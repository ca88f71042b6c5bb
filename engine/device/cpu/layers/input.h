/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/data/augment.h"
#include "engine/device/plan/builder.h"

/* What the first and last steps of a plan do with a row; lanes/run.c does the same for a group. */

/* A pixel of channel c becomes pixel * scale[c] + shift[c]; numbers are taken as they are. */
void input_scaling(const struct net *net, float *scale, float *shift);
/* What to do with the picture of row `row` of the data. */
struct augment_change input_change(const struct batch *batch, uint32_t row);

/* The step before all layers: the batch's rows as numbers, in the layout of values. */
bool build_input(struct builder *b, struct error *err);

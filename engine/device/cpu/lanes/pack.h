/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/lanes/lanes.h"

/* Weights in the order in which the loops of lanes.h read them. */

/* Weights [out][in][taps] as [block of out][in][taps][out in block]; of a tiled convolution so for
 * each point, with the rows of the kernel as taps. Then `scratch` is needed. */
void lanes_pack_conv(const struct lanes_kernels *k, const struct lanes_conv *c, const float *w,
                     float *packed, float *scratch);
/* The same weights as [block of in][out][taps][in in block]. */
void lanes_pack_data(const struct lanes_kernels *k, const struct lanes_conv *c, const float *w,
                     float *packed, float *scratch);
/* Weights [out][in] as [block of out][in][out in block]: every parts-th block from `part` on. */
void lanes_pack_linear(const struct lanes_kernels *k, int out, int in, const float *w,
                       float *packed, int part, int parts);

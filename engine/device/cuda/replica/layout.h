/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Filters of a convolution, [out][kernel_h][kernel_w][in], or rows of a linear layer,
 * [out][h][w][in]: the network's [out][channels][taps] is stored as [out][taps][channels], tap by
 * tap `stride` floats apart, one output `row` floats after the other. */
struct filter_layout {
    size_t out; /* 0: not such a parameter, numbers lie as they are */
    size_t channels, taps, stride, row;
};

struct cuda_replica;

/* Give every parameter its place and layout. Needs base.net and graph. */
bool cuda_replica_lay_out(struct cuda_replica *replica, struct error *err);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/describe.h"
#include "engine/device/cpu/conv/kernel.h"

/* The algorithms that can compute a convolution: those of oneDNN, and kernels of our own. */
struct conv_algorithm {
    enum library_algorithm library; /* where `kernel` is NULL */
    const struct conv_kernel *kernel;
};

#define CONV_MOST_ALGORITHMS 8 /* of one shape and direction */

/*
 * The kernels of a direction for values of `block` channels that this processor can run (and
 * dnnl_set_max_cpu_isa allows), up to a NULL.
 */
const struct conv_kernel *const *conv_kernels(enum conv_direction direction, int block);

/*
 * The library's direct algorithm first, which is the only one of grouped and dilated convolutions,
 * then the kernels of our own that fit the shape, then the library's Winograd: it has to be clearly
 * faster than ours, which can be fused with a BatchNorm (conv/fusion.h). Returns their number.
 */
int conv_algorithms(const struct conv_shape *shape, enum conv_direction direction,
                    struct conv_algorithm list[CONV_MOST_ALGORITHMS]);

/* "direct", "library's winograd" or the kernel's name. */
const char *conv_algorithm_name(struct conv_algorithm algorithm);

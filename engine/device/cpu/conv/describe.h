/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/shape.h"
#include "engine/device/cpu/core/device.h"

/* What oneDNN has for a convolution. */

enum library_algorithm { LIBRARY_DIRECT, LIBRARY_WINOGRAD };

/*
 * The primitive descriptor of one direction. Weights are in the library's favourite format; source
 * and destination as stored, or with `free_layout` in its favourite too. `dnnl_unimplemented` where
 * the library lacks the algorithm for this shape.
 */
dnnl_status_t conv_describe(struct device *device, const struct conv_shape *shape,
                            enum conv_direction direction, enum library_algorithm algorithm,
                            bool free_layout, dnnl_primitive_desc_t *out);

/*
 * The library's best description: by `algorithm`, else direct, else direct in the library's own
 * layouts when it has no more than its plain reference code for the stored ones.
 */
bool conv_describe_best(struct device *device, const struct conv_shape *shape,
                        enum conv_direction direction, enum library_algorithm algorithm,
                        dnnl_primitive_desc_t *out, struct error *err);

/* How the library calls what a direction reads and writes. */
struct conv_arguments {
    struct conv_argument {
        int arg;            /* DNNL_ARG_... */
        dnnl_query_t query; /* for its layout */
    } src, weights, dst;
    int bias;
};
const struct conv_arguments *conv_arguments(enum conv_direction direction);

/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CONV_CONV_H
#define DPARTUI_ENGINE_DEVICE_CPU_CONV_CONV_H

#include "engine/device/cpu/core/device.h"
#include "engine/device/plan/builder.h"

/*
 * A convolution as the library sees it: channels filled up to whole blocks, the surplus being zero
 * in values, weights and gradients alike, so that its kernels need no special case for them.
 */
struct conv_shape {
    int rows;
    int in, in_h, in_w, in_block;
    int out, out_h, out_w, out_block;
    int kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
    bool bias, relu;
    bool add;  /* FORWARD: to what the destination holds, in front of the ReLU */
    bool none; /* fills up what would be padding, so that shapes can be compared as bytes */
};

/* Of a convolution of the graph, over so many rows. */
void conv_shape_of(struct conv_shape *shape, const struct graph *graph, const struct node *node,
                   int rows);

/* Where both sides have blocks of one size: the layout in which weights are stored, OIhw16i16o
 * or 8. NULL: no memory; release with compat_desc_free. */
desc_t conv_weights_desc(const struct conv_shape *shape);

enum conv_algorithm { CONV_DIRECT, CONV_WINOGRAD };

/* How one direction is computed: by a method of our own, or by an algorithm of the library. */
struct conv_method;
struct conv_way {
    enum conv_algorithm algorithm; /* where `method` is NULL */
    const struct conv_method *method;
};

/* "direct", "library's winograd" or the method's name. */
const char *conv_way_name(struct conv_way way);

/*
 * The primitive descriptor of one direction. Weights are in the library's favourite format; source
 * and destination as stored, or with `free_layout` in its favourite too. `dnnl_unimplemented` where
 * the library lacks the algorithm for this shape.
 */
dnnl_status_t conv_describe(struct device *device, const struct conv_shape *shape,
                            enum conv_direction direction, enum conv_algorithm algorithm,
                            bool free_layout, dnnl_primitive_desc_t *out);

/*
 * tune.c: the fastest way for this shape on this device. The first to ask for a shape measures: on
 * the device's thread, with its whole team, for up to seconds, and holds a lock of the process
 * meanwhile; what it finds is kept in the user's cache folder. Devices that estimate or are
 * deterministic never measure.
 */
bool conv_choose(struct device *device, const struct conv_shape *shape,
                 enum conv_direction direction, struct conv_way *out, struct error *err);

/* Whether a convolution's direction goes by a method that does what conv/beside.h says. */
bool conv_goes_beside(const struct builder *b, const struct node *node,
                      enum conv_direction direction, bool *yes, struct error *err);

/* What the convolution that made `value` summed up along the way, struct conv_moments for each
 * thread and block of channels; NULL: nothing. */
struct buffer *conv_moments_of(const struct builder *b, int value);

/*
 * The library's best description: by `algorithm`, else direct, else direct in the library's own
 * layouts when it has no more than its plain reference code for the stored ones.
 */
bool conv_describe_best(struct device *device, const struct conv_shape *shape,
                        enum conv_direction direction, enum conv_algorithm algorithm,
                        dnnl_primitive_desc_t *out, struct error *err);

/* The queries for source, weights and destination in each direction. */
struct conv_queries {
    dnnl_query_t src, weights, dst;
};
struct conv_queries conv_queries(enum conv_direction direction);

#endif

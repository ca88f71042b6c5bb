/* SPDX-License-Identifier: MIT */
#ifndef DPARTUI_ENGINE_DEVICE_CPU_CONV_METHOD_H
#define DPARTUI_ENGINE_DEVICE_CPU_CONV_METHOD_H

#include "engine/device/cpu/conv/beside.h"
#include "engine/device/cpu/conv/conv.h"

/*
 * Convolutions of our own, for shapes where the library lacks a fast algorithm. They work on the
 * layouts of the rest: values as [row][c / block][h][w][block], weights as
 * [out / block][in / block][kernel_h][kernel_w][block of in][block of out], which is the library's
 * OIhw16i16o (or 8) too; where the library wants others, as for the gradient of the data, they are
 * reordered for it in every pass. tune.c measures them against the library's algorithms, shape by
 * shape.
 */

/* One pass of one direction. What the direction does not name is NULL. */
struct conv_pass {
    const struct conv_shape *shape;
    int threads;       /* of the OpenMP team that the calling thread may start */
    const float *x;    /* FORWARD, BACKWARD_WEIGHTS: the input */
    const float *w;    /* FORWARD, BACKWARD_DATA */
    const float *bias; /* FORWARD, or NULL */
    const float *dy;   /* BACKWARD_DATA, BACKWARD_WEIGHTS */
    float *y;          /* FORWARD; what it holds is added where shape->add is set, then max(0, y)
                          taken where shape->relu is */
    float *dx;         /* BACKWARD_DATA */
    float *dw, *dbias; /* BACKWARD_WEIGHTS; overwritten; dbias may be NULL */
    void *scratch;     /* conv_method.scratch bytes, aligned to a page; contents do not matter */
    /* For the BatchNorms beside it; NULL: nothing. */
    const struct conv_norm *norm; /* FORWARD, BACKWARD_WEIGHTS */
    struct conv_moments *moments; /* FORWARD: for each thread an array over the blocks of the
                                     result's channels; overwritten */
};

#define CONV_SCRATCH_ALIGN 4096

/* Point a pass at its values (x, dx), weights (w, dw), bias (or dbias; NULL: none) and results (y,
 * dy), as its direction calls them. */
void conv_pass_point(struct conv_pass *pass, enum conv_direction direction, float *src,
                     float *weights, float *bias, float *dst);

struct conv_method {
    const char *name; /* "winograd 4x4" */
    int block;        /* of channels, on both sides */
    enum conv_direction direction;
    bool (*fits)(const struct conv_shape *shape);
    size_t (*scratch)(const struct conv_shape *shape, int threads);
    /* On the device's thread, outside parallel regions. The same bits each time for equal
     * arguments on a machine: sums over rows are made in an order that depends on the shape, the
     * threads and the sizes of caches alone. */
    void (*run)(const struct conv_pass *pass);
    bool beside; /* can do what conv/beside.h says; others take no notice of it */
};

/*
 * The methods of a direction for values of `block` channels that this processor can run (and
 * dnnl_set_max_cpu_isa allows), up to a NULL.
 */
const struct conv_method *const *conv_methods(enum conv_direction direction, int block);

#endif

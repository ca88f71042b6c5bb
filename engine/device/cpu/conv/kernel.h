/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/fusion.h"
#include "engine/device/cpu/conv/shape.h"

/*
 * Convolution kernels of our own, for shapes where the library lacks a fast algorithm. They work on
 * the stored layouts: values as [row][c / block][h][w][block], weights as
 * [out / block][in / block][kernel_h][kernel_w][block of in][block of out], which is the library's
 * OIhw16i16o (or 8) too. Where the library prefers another layout, as for the gradient of the data,
 * it reorders the weights in every pass. Which one is faster is measured shape by shape (autotune).
 */

/* One pass of one direction. Members that the direction does not use are NULL. */
struct conv_pass {
    const struct conv_shape *shape;
    enum conv_direction direction;
    int threads; /* of the OpenMP team that the calling thread may start */
    /* Values and their gradients are bf16 where shape->bf16 is set, else f32. */
    const void *x;     /* FORWARD, BACKWARD_WEIGHTS: the input */
    const float *w;    /* FORWARD, BACKWARD_DATA */
    const float *bias; /* FORWARD, or NULL */
    const void *dy;    /* BACKWARD_DATA, BACKWARD_WEIGHTS */
    void *y;           /* FORWARD; the result is added to it where shape->add is set, then the ReLU
                          applied where shape->relu is */
    void *dx;          /* BACKWARD_DATA */
    float *dw, *dbias; /* BACKWARD_WEIGHTS; overwritten; dbias may be NULL */
    void *scratch;     /* conv_kernel.scratch bytes, aligned to a page; contents do not matter */
    /* Fusion with BatchNorms; NULL: none. */
    const struct conv_norm *norm; /* FORWARD, BACKWARD_WEIGHTS */
    struct conv_moments *moments; /* FORWARD: for each thread an array over the blocks of the
                                     result's channels; overwritten */
};

#define CONV_SCRATCH_ALIGN 4096

/* Set the direction of a pass and point it at its values (x, dx), weights (w, dw), bias (or dbias;
 * NULL: none) and results (y, dy), as its direction calls them. */
void conv_pass_point(struct conv_pass *pass, enum conv_direction direction, void *src,
                     float *weights, float *bias, void *dst);

struct conv_kernel {
    const char *name; /* "winograd 4x4" */
    int block;        /* of channels, on both sides */
    enum conv_direction direction;
    bool (*fits)(const struct conv_shape *shape);
    size_t (*scratch)(const struct conv_shape *shape, enum conv_direction direction, int threads);
    /* On the device's thread, outside parallel regions. Deterministic on a machine: the order of
     * sums over rows depends only on the shape, the threads and the sizes of caches. */
    void (*run)(const struct conv_pass *pass);
    bool fuses; /* takes `norm` and `moments`; other kernels ignore them */
};

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/conv/kernel.h"
#include "engine/device/cpu/core/primitive.h"

/* The stored layouts of what a convolution works on. */
struct conv_stored {
    desc_t src, weights, bias, dst;
};

/* What one direction reads and writes: values and their gradients in their places. */
struct conv_buffers {
    struct buffer *src;     /* x or dx */
    struct buffer *weights; /* w or dw */
    struct buffer *bias;    /* bias or dbias; NULL: there is none */
    struct buffer *dst;     /* y or dy */
};

/* Fusion with BatchNorms (conv/fusion.h); both NULL: none. */
struct conv_fused {
    const struct fused_norm *norm; /* FORWARD, BACKWARD_WEIGHTS: `src` is its x */
    struct buffer *moments;        /* FORWARD */
};

/* One direction, by the algorithm that was chosen for it. */
struct conv_run {
    const struct conv_kernel *kernel; /* NULL: by the primitive */
    struct primitive primitive;
    const struct conv_shape *shape; /* the caller's */
    struct conv_buffers at;
    struct conv_fused fused; /* the caller's, where conv_run_fuses says so */
    struct buffer *scratch;
};

/* Choose the algorithm and prepare it as part of the step being built; `shape` outlives it. Release
 * with conv_run_release. */
bool conv_run_make(struct builder *b, struct conv_run *run, const struct conv_shape *shape,
                   enum conv_direction direction, const struct conv_stored *stored,
                   const struct conv_buffers *at, struct error *err);
/* Whether run->fused may be set. */
static inline bool conv_run_fuses(const struct conv_run *run)
{
    return run->kernel && run->kernel->fuses;
}

/* On the device's thread, of a plan that is bound. Kernels of our own never fail. */
bool conv_run(struct device *device, struct conv_run *run, struct error *err);
void conv_run_release(struct conv_run *run);

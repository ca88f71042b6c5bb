/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/conv/kernel.h"

/* Sizes of a convolution. */
struct kind {
    int in, out; /* blocks */
    int in_h, in_w, kernel, stride, pad;
};

static inline struct conv_shape kind_shape(const struct kind *k, int block, int rows)
{
    struct conv_shape s;
    memset(&s, 0, sizeof s);
    s.rows = rows;
    s.in = k->in * block;
    s.out = k->out * block;
    s.in_block = s.out_block = block;
    s.in_h = k->in_h;
    s.in_w = k->in_w;
    s.kernel_h = s.kernel_w = k->kernel;
    s.stride_h = s.stride_w = k->stride;
    s.pad_h = s.pad_w = k->pad;
    s.dilation_h = s.dilation_w = s.groups = 1;
    s.out_h = (s.in_h + 2 * s.pad_h - s.kernel_h) / s.stride_h + 1;
    s.out_w = (s.in_w + 2 * s.pad_w - s.kernel_w) / s.stride_w + 1;
    return s;
}

/* Run a pass, whose arrays are set, with scratch memory that holds no number at all; a kernel has
 * to keep to what it asked for. */
static inline void run_kernel(const struct conv_kernel *kernel, const struct conv_shape *shape,
                              int threads, struct conv_pass pass)
{
    const size_t bytes = kernel->scratch(shape, kernel->direction, threads);
    const size_t size = (bytes / CONV_SCRATCH_ALIGN + 2) * CONV_SCRATCH_ALIGN;
    unsigned char *scratch = aligned_alloc(CONV_SCRATCH_ALIGN, size);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, size);
    pass.shape = shape;
    pass.direction = kernel->direction;
    pass.threads = threads;
    pass.scratch = scratch;
    omp_set_num_threads(threads);
    kernel->run(&pass);
    size_t end = size;
    while (end > bytes && scratch[end - 1] == 0xff)
        end--;
    ck_assert_msg(end == bytes, "%s: %zu bytes of scratch used, %zu asked for", kernel->name, end,
                  bytes);
    free(scratch);
}

/* SPDX-License-Identifier: MIT */
#pragma once

#include <check.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/conv/kernel.h"

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

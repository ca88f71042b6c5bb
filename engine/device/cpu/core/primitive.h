/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/plan.h"

/*
 * A library primitive with its arguments. Where the primitive wants another layout than the one
 * stored, a reorder before or after it goes through scratch memory; callers need not care. The
 * arrays hold what the widest primitive (a convolution with bias and scratchpad) needs.
 */

struct stage {
    dnnl_primitive_t handle;
    int count;
    dnnl_exec_arg_t args[8];
};

struct primitive {
    int before_count, after_count;
    struct stage before[4], main, after[2];
};

/* Make the main primitive from `desc`, with scratchpad. Release with primitive_release. */
bool primitive_make(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                    struct error *err);
/*
 * Argument `arg` is `buffer`, stored as `stored`; `query` (with index 0) is the primitive's own
 * idea of the layout. Marks the buffer's use by the step being built.
 */
bool primitive_input(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc, int arg,
                     dnnl_query_t query, desc_t stored, struct buffer *buffer, struct error *err);
bool primitive_output(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc, int arg,
                      dnnl_query_t query, desc_t stored, struct buffer *buffer, struct error *err);
/* An argument in the primitive's own layout, whatever it is. */
bool primitive_bind(struct builder *b, struct primitive *p, int arg, desc_t layout,
                    struct buffer *buffer, struct error *err);
/* build_label() with the library's own name for what it has chosen: "oneDNN jit:avx512_core". Right
 * before build_step, as others may be built for what the step reads. */
void primitive_label(struct builder *b, enum plan_direction direction, dnnl_primitive_desc_t desc);
bool primitive_run(struct device *device, struct primitive *p, struct error *err);
void primitive_release(void *primitive);

/* The layout of a value over `rows` rows, owned by the caller; its channels as the network counts
 * them, or filled up to whole blocks. NULL: out of memory. */
desc_t value_desc(const struct value *value, int rows, bool filled);
/* A vector of `count` floats. */
desc_t vector_desc(size_t count);

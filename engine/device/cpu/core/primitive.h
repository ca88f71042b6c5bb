/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/number.h"
#include "engine/device/cpu/core/plan.h"

/*
 * A library primitive with its arguments. Where the primitive wants another layout than the one
 * stored, a reorder before or after it goes through scratch memory; callers need not care. Where
 * the library does not compute in bf16 (library_bf16 of the device), it computes in f32, and values
 * are converted before and after. The arrays hold what the widest primitive (a convolution with
 * bias and scratchpad) needs.
 */

struct stage {
    dnnl_primitive_t handle; /* NULL: a conversion */
    int count;
    dnnl_exec_arg_t args[8];
    number_conversion *convert;
    const struct buffer *from, *to;
    size_t numbers;
};

struct primitive {
    int before_count, after_count;
    struct stage before[6], main, after[2];
};

/* Make the main primitive from `desc`, with scratchpad. Release with primitive_release. */
bool primitive_make(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                    struct error *err);

/* What an argument holds: a value of the network or its gradient, or weights or theirs. */
enum argument_kind { ARGUMENT_VALUE, ARGUMENT_WEIGHTS };

/*
 * Argument `arg` is `buffer`, stored as `stored`; `query` (with index 0) is the primitive's own
 * idea of the layout. Marks the buffer's use by the step being built.
 */
struct argument {
    enum argument_kind kind;
    int arg;
    dnnl_query_t query;
    desc_t stored;
    struct buffer *buffer;
};
bool primitive_input(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                     const struct argument *argument, struct error *err);
/* `adds`: to what the buffer holds. */
bool primitive_output(struct builder *b, struct primitive *p, dnnl_primitive_desc_t desc,
                      const struct argument *argument, bool adds, struct error *err);
/* A value that is read, or written, in the layout in which it is stored. */
bool primitive_read(struct builder *b, struct primitive *p, int arg, desc_t layout,
                    struct buffer *buffer, struct error *err);
bool primitive_write(struct builder *b, struct primitive *p, int arg, desc_t layout,
                     struct buffer *buffer, struct error *err);
/* An argument in the primitive's own layout, whatever it is. */
bool primitive_bind(struct builder *b, struct primitive *p, int arg, desc_t layout,
                    struct buffer *buffer, struct error *err);
/* build_label() with the library's own name for what it has chosen: "oneDNN jit:avx512_core". Right
 * before build_step, as others may be built for what the step reads. */
void primitive_label(struct builder *b, enum plan_direction direction, dnnl_primitive_desc_t desc);
bool primitive_run(struct device *device, struct primitive *p, struct error *err);
void primitive_release(void *primitive);

/* The layout of a value over the builder's rows, as the library sees it, owned by the caller; its
 * channels as the network counts them, or filled up to whole blocks. NULL: out of memory. */
desc_t value_desc(const struct builder *b, const struct value *value, bool filled);
/* A vector of `count` floats. */
desc_t vector_desc(size_t count);

/* SPDX-License-Identifier: MIT */
#pragma once

#include "engine/device/cpu/core/primitive.h"

/* Products of matrices of bf16 by the library, with sums in f32. */

/* A matrix of rows x columns. */
struct matrix {
    enum argument_kind kind; /* values, of bf16, or weights, of f32 */
    struct buffer *buffer;
    int rows, columns;
    bool transposed; /* its columns lie one after the other */
};

/* result = left x right + bias, of which the last, f32 and one for each column, may be NULL; as
 * part of the step being built, which it labels. Weights are rounded to bf16 where they are read.
 * Release with primitive_release. */
bool product_make(struct builder *b, struct primitive *p, enum plan_direction direction,
                  const struct matrix *left, const struct matrix *right, struct buffer *bias,
                  const struct matrix *result, struct error *err);

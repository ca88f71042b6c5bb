/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/device/bf16.h"
#include "tests/engine/device/cpu/conv/run_kernel.h"

/* Passes of kernels, and a plain convolution in double precision to compare them with. */

/* Arrays of one case: `count` numbers with a guard behind them. */
struct array {
    void *data;
    float *before; /* what was in it in front of the pass */
    double *expected;
    size_t count;
    bool bf16; /* the numbers are, otherwise f32 */
};

static inline size_t array_bytes(const struct array *a, size_t count)
{
    return count * (a->bf16 ? sizeof(uint16_t) : sizeof(float));
}

static inline float number_at(const struct array *a, size_t i)
{
    return a->bf16 ? bf16_widen(((const uint16_t *)a->data)[i]) : ((const float *)a->data)[i];
}

struct trial {
    struct conv_shape shape;
    struct array src, dst, weights, bias;
};

/* Random numbers, the same for all cases; with weights that are bf16 already, for kernels that
 * round them, or any others. */
void trial_make(struct trial *trial, const struct conv_shape *shape, bool rounded);
void trial_free(struct trial *trial);

/* Put what was `before` into the data. */
void array_reset(struct array *array);

/* Add what is right to the expected numbers, zeros at first, of the direction's results. */
void trial_expect(struct trial *trial, enum conv_direction direction);

void trial_run(struct trial *trial, const struct conv_kernel *kernel, int threads);

/* Of a direction, besides the gradient of the bias. */
struct array *trial_result(struct trial *trial, enum conv_direction direction);

/*
 * rms error of the numbers [from, to), in parts of that of a direct convolution in bf16, whose
 * weights and results are rounded, gradients of weights as well: `direct` has what that one expects
 * before it rounds its results.
 */
double array_error(const struct array *array, const struct array *direct, size_t from, size_t to);

/* That nothing was written past the end. */
void array_check_guard(const struct array *array, const char *what);

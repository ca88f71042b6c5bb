/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

/*
 * Loops of the host over gradients, and the squares that the noise scale is made of. A few thousand
 * squares at a time may be added in single precision, whose rounding is then far below the noise;
 * callers add up the results in double.
 */

/* So many floats stay in the first-level cache while the ranks' gradients pass by. */
enum { SUM_BLOCK = 2048 };

/* Where slice i of a number of slices begins; slices are whole cache lines, so that no line has two
 * writers. */
static inline size_t slice_begin(size_t count, int i, int slices)
{
    return i == slices ? count : 16 * (count / 16 * (size_t)i / (size_t)slices);
}

/* sum[i] += grads[i]; the sum of the squares of grads. */
static inline float add_gradients(float *restrict sum, const float *restrict grads, size_t count)
{
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < count; i++) {
        squares += grads[i] * grads[i];
        sum[i] += grads[i];
    }
    return squares;
}

static inline float sum_of_squares(const float *grads, size_t count)
{
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < count; i++)
        squares += grads[i] * grads[i];
    return squares;
}

static inline double squares_between(const float *grads, size_t begin, size_t end)
{
    double squares = 0;
    for (size_t at = begin; at < end; at += SUM_BLOCK)
        squares += (double)sum_of_squares(grads + at, end - at < SUM_BLOCK ? end - at : SUM_BLOCK);
    return squares;
}

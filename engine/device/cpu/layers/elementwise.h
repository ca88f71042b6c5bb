/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Loops over whole buffers of bf16 or f32, on the calling thread's team. Outputs may be the inputs.
 */

/* sum = a + b, with max(0, .) on it where `relu` is set. */
void elementwise_add(const void *a, const void *b, bool relu, void *sum, size_t count, bool bf16);
/* y = max(0, x); a NaN stays one. */
void elementwise_relu(const void *x, void *y, size_t count, bool bf16);
/* dx = dy where y > 0, else 0 */
void elementwise_relu_backward(const void *y, const void *dy, void *dx, size_t count, bool bf16);
/* y = x where x > 0, else x * slope */
void elementwise_leaky_relu(const void *x, float slope, void *y, size_t count, bool bf16);
/* dx = dy where y > 0, else dy * slope: as slopes are not negative, y is above zero where x is. */
void elementwise_leaky_relu_backward(const void *y, const void *dy, float slope, void *dx,
                                     size_t count, bool bf16);

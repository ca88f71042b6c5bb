/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Loops over whole buffers, on the calling thread's team. Outputs may be the inputs. */

/* sum = a + b, with max(0, .) on it where `relu` is set. */
void elementwise_add(const float *a, const float *b, bool relu, float *sum, size_t count);
/* y = max(0, x); a NaN stays one. */
void elementwise_relu(const float *x, float *y, size_t count);
/* dx = dy where y > 0, else 0 */
void elementwise_relu_backward(const float *y, const float *dy, float *dx, size_t count);

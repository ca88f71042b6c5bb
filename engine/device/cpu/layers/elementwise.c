/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/elementwise.h"

#include "engine/device/cpu/core/number.h"

/* Numbers that a thread takes at a time. */
#define CHUNK 4096

/* Run `loop`, whose first arguments are the range of numbers and whose last is the type, on the
 * team. It is inlined here, where the type is a constant: what a parallel region is made of gets it
 * as a variable. */
#define ON_TEAM(loop, ...)                                                                         \
    do {                                                                                           \
        _Pragma(                                                                                   \
            "omp parallel for schedule(static) if (count >= PARALLEL_FROM)") for (size_t from = 0; \
                                                                                  from < count;    \
                                                                                  from += CHUNK)   \
        {                                                                                          \
            const size_t to = count - from < CHUNK ? count : from + CHUNK;                         \
            if (bf16)                                                                              \
                loop(from, to, __VA_ARGS__, true);                                                 \
            else                                                                                   \
                loop(from, to, __VA_ARGS__, false);                                                \
        }                                                                                          \
    } while (0)

#define EACH _Pragma("omp simd") for (size_t i = from; i < to; i++)

INLINE float positive(float x)
{
    return x < 0 ? 0 : x;
}

INLINE void add_range(size_t from, size_t to, const void *a, const void *b, bool relu, void *sum,
                      const bool bf16)
{
    if (relu)
        EACH number_put(sum, i, positive(number_get(a, i, bf16) + number_get(b, i, bf16)), bf16);
    else
        EACH number_put(sum, i, number_get(a, i, bf16) + number_get(b, i, bf16), bf16);
}

void elementwise_add(const void *a, const void *b, bool relu, void *sum, size_t count, bool bf16)
{
    ON_TEAM(add_range, a, b, relu, sum);
}

INLINE void relu_range(size_t from, size_t to, const void *x, void *y, const bool bf16)
{
    EACH number_put(y, i, positive(number_get(x, i, bf16)), bf16);
}

void elementwise_relu(const void *x, void *y, size_t count, bool bf16)
{
    ON_TEAM(relu_range, x, y);
}

/* No product with 0 or 1: where the gradient is infinite, too, it is dropped. */
INLINE float passed(float test, float x)
{
    return test > 0 ? x : 0;
}

INLINE void passed_range(size_t from, size_t to, const void *y, const void *dy, void *dx,
                         const bool bf16)
{
    EACH number_put(dx, i, passed(number_get(y, i, bf16), number_get(dy, i, bf16)), bf16);
}

void elementwise_relu_backward(const void *y, const void *dy, void *dx, size_t count, bool bf16)
{
    ON_TEAM(passed_range, y, dy, dx);
}

/* Both are computed, so that the loop has no branch. */
INLINE float leaky(float test, float x, float slope)
{
    const float below = x * slope;
    return test > 0 ? x : below;
}

INLINE void leaky_range(size_t from, size_t to, const void *test, const void *x, float slope,
                        void *y, const bool bf16)
{
    EACH number_put(y, i, leaky(number_get(test, i, bf16), number_get(x, i, bf16), slope), bf16);
}

void elementwise_leaky_relu(const void *x, float slope, void *y, size_t count, bool bf16)
{
    ON_TEAM(leaky_range, x, x, slope, y);
}

void elementwise_leaky_relu_backward(const void *y, const void *dy, float slope, void *dx,
                                     size_t count, bool bf16)
{
    ON_TEAM(leaky_range, y, dy, slope, dx);
}

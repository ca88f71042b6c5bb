/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/layers/elementwise.h"

#include "engine/device/cpu/core/number.h"

/* For fewer numbers waking the team costs more than the loop. */
#define PARALLEL_FROM 16384

#define LOOP                                                                                       \
    _Pragma(                                                                                       \
        "omp parallel for simd schedule(static) if (count >= PARALLEL_FROM)") for (size_t i = 0;   \
                                                                                   i < count; i++)
/* to[i] = the expression VALUE(type) for each i: a loop for each type. */
#define EACH(to, VALUE)                                                                            \
    do {                                                                                           \
        if (bf16)                                                                                  \
            LOOP number_put(to, i, VALUE(true), true);                                             \
        else                                                                                       \
            LOOP number_put(to, i, VALUE(false), false);                                           \
    } while (0)

static inline float positive(float x)
{
    return x < 0 ? 0 : x;
}

static inline float leaky(float test, float x, float slope)
{
    return test > 0 ? x : x * slope;
}

void elementwise_add(const void *a, const void *b, bool relu, void *sum, size_t count, bool bf16)
{
#define SUM(type)      number_get(a, i, type) + number_get(b, i, type)
#define POSITIVE(type) positive(SUM(type))
    if (relu)
        EACH(sum, POSITIVE);
    else
        EACH(sum, SUM);
}

void elementwise_relu(const void *x, void *y, size_t count, bool bf16)
{
#define RELU(type) positive(number_get(x, i, type))
    EACH(y, RELU);
}

void elementwise_relu_backward(const void *y, const void *dy, void *dx, size_t count, bool bf16)
{
#define PASSED(type) number_get(y, i, type) > 0 ? number_get(dy, i, type) : 0
    EACH(dx, PASSED);
}

void elementwise_leaky_relu(const void *x, float slope, void *y, size_t count, bool bf16)
{
#define LEAKY(type) leaky(number_get(x, i, type), number_get(x, i, type), slope)
    EACH(y, LEAKY);
}

void elementwise_leaky_relu_backward(const void *y, const void *dy, float slope, void *dx,
                                     size_t count, bool bf16)
{
#define SLOPE(type) leaky(number_get(y, i, type), number_get(dy, i, type), slope)
    EACH(dx, SLOPE);
}

/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers of values in memory, for loops that are written once for both of their types: bf16 where
 * the file that includes them defines NUMBER_BF16, else f32. They are f32 in registers. Included
 * after the vectors of an instruction set, or without any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/device/bf16.h"

#ifdef NUMBER_BF16
typedef uint16_t number;
#define NUMBER_IS_BF16 true
#else
typedef float number;
#define NUMBER_IS_BF16 false
#endif

#define NUMBER_LINE ((ptrdiff_t)(64 / sizeof(number))) /* of a cache line */

static inline float stored_value(number n)
{
#ifdef NUMBER_BF16
    return bf16_widen(n);
#else
    return n;
#endif
}

static inline number stored_of(float value)
{
#ifdef NUMBER_BF16
    return bf16_round(value);
#else
    return value;
#endif
}

#ifdef TARGET

#ifdef NUMBER_BF16
#define N(name) v_##name##_bf16
#else
#define N(name) v_##name
#endif

static inline TARGET vector n_load(const number *p)
{
    return N(load)(p);
}

static inline TARGET vector n_load_masked(const number *p, v_mask mask)
{
    return N(load_masked)(p, mask);
}

static inline TARGET void n_store(number *p, vector v)
{
    N(store)(p, v);
}

static inline TARGET void n_stream(number *p, vector v)
{
    N(stream)(p, v);
}

static inline TARGET void n_put(number *p, vector v, bool stream)
{
    if (stream)
        n_stream(p, v);
    else
        n_store(p, v);
}

/* What would be loaded after v was stored. */
static inline TARGET vector n_rounded(vector v)
{
    return N(rounded)(v);
}

#undef N

#endif

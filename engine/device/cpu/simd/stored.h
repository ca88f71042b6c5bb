/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers of values in memory, for loops that are written once for both of their types: bf16 where
 * the file that includes them defines NUMBER_BF16, else f32. They are f32 in registers. Those of
 * vectors are for files that have chosen an instruction set. n_rounded(v) is what would be loaded
 * after v was stored.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/device/bf16.h"

#ifdef NUMBER_BF16

typedef uint16_t number;
#define NUMBER_IS_BF16 true
#define stored_value   bf16_widen
#define stored_of      bf16_round
#define n_load         v_load_bf16
#define n_load_masked  v_load_masked_bf16
#define n_store        v_store_bf16
#define n_stream       v_stream_bf16
#define n_rounded      v_rounded_bf16

#else

typedef float number;
#define NUMBER_IS_BF16  false
#define stored_value(n) (n)
#define stored_of(x)    (x)
#define n_load          v_load
#define n_load_masked   v_load_masked
#define n_store         v_store
#define n_stream        v_stream
#define n_rounded(v)    (v)

#endif

#define NUMBER_LINE ((ptrdiff_t)(64 / sizeof(number))) /* of a cache line */

#ifdef TARGET
static inline TARGET void n_put(number *p, vector v, bool stream)
{
    if (stream)
        n_stream(p, v);
    else
        n_store(p, v);
}
#endif

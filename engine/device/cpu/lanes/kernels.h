/* SPDX-License-Identifier: MIT */

/*
 * The loops of lanes.h. Included by a file that has chosen its instruction set and defined
 *   TARGET                     the function attribute that allows it
 *   LANES                      floats in a vector
 *   CONV_OUTPUTS               6: blocks of up to 6 outputs times
 *   PRODUCT_VECTORS            2 or 4 vectors fit the registers
 *   LINEAR_OUTPUTS             8 or 16: so do as many outputs of one vector
 *   OUTER_OUTPUTS              2 or 4: so do 5 times as many sums, and what they are made of
 *   vector                     its type, with the arithmetic operators
 *   v_load(p), v_store(p, v), v_all(number), v_fma(a, b, c) = a*b + c
 *   v_held(v)                 v, in a register: not reloaded each time it is used
 *   v_bytes(p)                 LANES bytes as numbers
 *   v_max(a, b), v_most(a, b)  a NaN in a, or in either, stays one
 *   v_keep_positive(t, v)      v, zero where t is not > 0
 *   v_keep_equal(a, b, v), v_keep_unequal(a, b, v)    v, zero where a is not, or is, equal to b
 *   v_below_zero(v)            -|v|
 *   v_select(t, a, b)          a where t >= 0, else b
 *   v_scale(v, n)              v * 2^n for whole n from -151 to 0
 *   v_reciprocal(v)            1/v, good to 11 bits
 *   v_weave_low(a, b), v_weave_high(a, b)    a0 b0 a1 b1 ... of the lower, upper halves
 */

#include <string.h>

#include "engine/device/cpu/lanes/tiling.h"

#define INLINE static inline __attribute__((always_inline)) TARGET

#include "engine/device/cpu/lanes/math.h"
#include "engine/device/cpu/lanes/product.h"
#include "engine/device/cpu/simd/transpose.h"

#include "engine/device/cpu/lanes/conv.h"
#include "engine/device/cpu/lanes/linear.h"
#include "engine/device/cpu/lanes/point.h"
#include "engine/device/cpu/lanes/pool.h"
#include "engine/device/cpu/lanes/rows.h"
#include "engine/device/cpu/lanes/winograd.h"

#define LANES_KERNELS(title)                                                                       \
    {                                                                                              \
        .name = (title), .lanes = LANES, .conv_outputs = CONV_OUTPUTS,                             \
        .linear_outputs = LINEAR_OUTPUTS, .outer_outputs = OUTER_OUTPUTS, .load = load,            \
        .to_rows = to_rows, .from_rows = from_rows, .add_lanes = add_lanes, .conv = conv,          \
        .conv_weights = conv_weights, .conv_data = conv_data, .linear = linear,                    \
        .linear_data = linear_data, .linear_weights = linear_weights, .activate = activate,        \
        .activate_back = activate_back, .pool = pool, .pool_back = pool_back, .mask = mask         \
    }

/* SPDX-License-Identifier: MIT */

/* Kernels of convolutions on tiles; tiles.h says what has to be there before. */

#include <omp.h>
#include <stddef.h>
#include <string.h>

#include "engine/device/cpu/amx/tiles.h"

#include "engine/device/cpu/amx/values.h"

#include "engine/device/cpu/amx/packing.h"

#include "engine/device/cpu/amx/weights.h"

/* Whether the tiles of a group fit, and the tables of lines. */
static bool has_room(const struct conv_shape *s, bool in)
{
    const int h = in ? s->in_h : s->out_h, w = in ? s->in_w : s->out_w;
    return h > 0 && w > 0 && h <= MOST_SIDE && w <= MOST_SIDE &&
           packed_bytes(side_of(s, in)) <= MOST_PACKED;
}

/* Any window and stride that there is room for. Grouped and dilated ones never get here
 * (conv_algorithms). */
static bool fits(const struct conv_shape *s)
{
    return s->bf16 && s->in_block == BLOCK && s->out_block == BLOCK && s->rows > 0 &&
           s->kernel_h <= MOST_TAPS && s->kernel_w <= MOST_TAPS / s->kernel_h &&
           s->out_h <= MOST_LINES && has_room(s, true) && has_room(s, false) &&
           processor_has_tiles();
}

const struct conv_kernel AMX_KERNELS[] = {
    {AMX_NAME, BLOCK, CONV_FORWARD, fits, values_scratch, values_run, true},
    {AMX_NAME, BLOCK, CONV_BACKWARD_DATA, fits, values_scratch, values_run, false},
    {AMX_NAME, BLOCK, CONV_BACKWARD_WEIGHTS, fits, weights_scratch, weights_run, true},
};

/* SPDX-License-Identifier: MIT */

/* Kernels of convolutions on tiles; tiles.h says what has to be there before. */

#include <omp.h>
#include <stddef.h>
#include <string.h>

#include "engine/device/cpu/amx/tiles.h"

#include "engine/device/cpu/amx/values.h"

#include "engine/device/cpu/amx/weights.h"

/* Any window and stride, while the tiles of a picture and the tables of taps and lines have room.
 * Grouped and dilated ones never get here (conv_algorithms). */
static bool fits(const struct conv_shape *s)
{
    return s->bf16 && s->in_block == BLOCK && s->out_block == BLOCK &&
           s->kernel_h * s->kernel_w <= MOST_TAPS && s->rows > 0 && s->out_h > 0 && s->out_w > 0 &&
           s->out_h <= MOST_LINES && packed_bytes(side_of(s, true)) <= MOST_PACKED &&
           packed_bytes(side_of(s, false)) <= MOST_PACKED && processor_has_tiles();
}

const struct conv_kernel AMX_KERNELS[] = {
    {AMX_NAME, BLOCK, CONV_FORWARD, fits, values_scratch, values_run, true},
    {AMX_NAME, BLOCK, CONV_BACKWARD_DATA, fits, values_scratch, values_run, false},
    {AMX_NAME, BLOCK, CONV_BACKWARD_WEIGHTS, fits, weights_scratch, weights_run, true},
};

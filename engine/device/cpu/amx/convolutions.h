/* SPDX-License-Identifier: MIT */

/* Kernels of convolutions on tiles; tiles.h says what has to be there before. */

#include <omp.h>
#include <stddef.h>
#include <string.h>

#include "engine/device/cpu/amx/tiles.h"

#define MOST_TAPS  64
#define MOST_LINES 64 /* of a picture's result */
#define MOST_PACKED                                                                                \
    ((size_t)8 << 20) /* bytes of a group's tiles, of which each thread has its own */

#include "engine/device/cpu/amx/values.h"

#include "engine/device/cpu/amx/gradients.h"

/* Pictures whose tiles stay near to the core. */
static bool fits(const struct conv_shape *s)
{
    return s->bf16 && s->in_block == BLOCK && s->out_block == BLOCK &&
           s->kernel_h * s->kernel_w <= MOST_TAPS && s->out_h > 0 && s->out_w > 0 &&
           s->out_h <= MOST_LINES && packed_bytes(side_of(s, true)) <= MOST_PACKED &&
           packed_bytes(side_of(s, false)) <= MOST_PACKED && tiles_are_there();
}

const struct conv_kernel AMX_KERNELS[] = {
    {AMX_NAME, BLOCK, CONV_FORWARD, fits, values_scratch, values_run, true},
    {AMX_NAME, BLOCK, CONV_BACKWARD_DATA, fits, values_scratch, values_run, false},
    {AMX_NAME, BLOCK, CONV_BACKWARD_WEIGHTS, fits, gradients_scratch, gradients_run, true},
};

/* SPDX-License-Identifier: MIT */
#include "engine/device/cpu/winograd/weights.h"

#if defined(__x86_64__)

#include "engine/device/cpu/simd/vector_avx2.h"

#include "engine/device/cpu/winograd/sizes.h"

#include "engine/device/cpu/winograd/weights_tiles.h"

#include "engine/device/cpu/winograd/weights_blocked.h"

const struct conv_kernel winograd_weights_8 = {.name = "winograd 4x4",
                                               .block = LANES,
                                               .direction = CONV_BACKWARD_WEIGHTS,
                                               .fits = fits,
                                               .scratch = scratch,
                                               .run = run,
                                               .fuses = true};

#endif

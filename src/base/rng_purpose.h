/* SPDX-License-Identifier: MIT */
#pragma once

/* What random numbers are for (rng.h); apart, as kernels of a GPU need it alone. */
enum rng_purpose {
    RNG_INIT = 1,
    RNG_SHUFFLE = 2,
    RNG_DROPOUT = 3,
    RNG_GLYPHS = 4,
    RNG_RANDOM_DATA = 5,
    RNG_AUGMENT = 6,
    RNG_VALIDATION = 7,
};

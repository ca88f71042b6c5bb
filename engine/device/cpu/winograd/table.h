/* SPDX-License-Identifier: MIT */

/*
 * The table of winograd/kernels.h, WINOGRAD_KERNELS. Included after transforms.h.
 */

/* X for each number of tiles up to GROUP. */
#if LANES == 16
#define EACH_TILES(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#else
#define EACH_TILES(X) X(1) X(2) X(3) X(4) X(5) X(6)
#endif

#define DEFINE(T)                                                                                  \
    static TARGET void multiply_##T##_1(const struct winograd_product *p)                          \
    {                                                                                              \
        multiply_group(p, T, 1);                                                                   \
    }                                                                                              \
    static TARGET void multiply_##T##_2(const struct winograd_product *p)                          \
    {                                                                                              \
        multiply_group(p, T, 2);                                                                   \
    }
#define BOTH(T) {multiply_##T##_1, multiply_##T##_2},

EACH_TILES(DEFINE)

static void multiply(const struct winograd_product *p, int tiles, int vectors)
{
    static void (*const functions[GROUP][VECTORS])(const struct winograd_product *) = {
        EACH_TILES(BOTH)};
    functions[tiles - 1][vectors - 1](p);
}

const struct winograd_kernels WINOGRAD_KERNELS = {.lanes = LANES,
                                                  .tiles = GROUP,
                                                  .vectors = VECTORS,
                                                  .step = STEP,
                                                  .v_block = V_BLOCK,
                                                  .u_step = U_STEP,
                                                  .scales = SCALES,
                                                  .scale = SCALE,
                                                  .weights = weights,
                                                  .multiply = multiply,
                                                  .fetch = fetch,
                                                  .fetch_results = fetch_results,
                                                  .input = input,
                                                  .output = output};

/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/bf16.h"
#include "engine/device/cpu/simd/kernels.h"
#include "tests/suites.h"

/* The loops of simd/kernels.h over values of bf16, by each instruction set that this processor has:
 * how numbers are loaded and stored, and that nothing else is new beside f32. */

static const int blocks[] = {1, 8, 16};
#define BLOCKS ((int)(sizeof blocks / sizeof *blocks))

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- numbers --- */

START_TEST(every_number_is_loaded)
{
    const struct kernels *kernels = kernels_find(blocks[_i], true);
    for (uint32_t first = 0; kernels && first < 1 << 16; first += (uint32_t)kernels->block) {
        uint16_t numbers[KERNELS_MAX_BLOCK];
        float loaded[KERNELS_MAX_BLOCK], expected[KERNELS_MAX_BLOCK];
        for (int k = 0; k < kernels->block; k++) {
            numbers[k] = (uint16_t)(first + (uint32_t)k);
            expected[k] = bf16_widen(numbers[k]);
        }
        kernels->widen(numbers, loaded);
        if (memcmp(loaded, expected, (size_t)kernels->block * sizeof(float)) != 0)
            ck_abort_msg("from %#x on", (unsigned)first);
    }
}
END_TEST

/* Store v as a BatchNorm's result, 1 * v - 0. */
static void store(const struct kernels *kernels, const float *v, bool stream, uint16_t *to)
{
    static const float shift[KERNELS_MAX_BLOCK] = {
        -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F,
        -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F, -0.0F,
    };
    uint16_t ones[KERNELS_MAX_BLOCK];
    for (int k = 0; k < KERNELS_MAX_BLOCK; k++)
        ones[k] = bf16_round(1);
    const struct norm_forward args = {.slab = {.rows = 1, .pixels = 1},
                                      .x = ones,
                                      .y = to,
                                      .scale = v,
                                      .shift = shift,
                                      .stream = stream};
    kernels->norm_forward(&args);
}

/* For each upper half of an f32, which are all there is of signs, exponents, infinities and NaN:
 * the number itself, the tie, and what lies next to them. */
START_TEST(every_number_is_rounded)
{
    static const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    const struct kernels *kernels = kernels_find(blocks[_i / 2], true);
    const uint32_t all = (1 << 16) * sizeof lower / sizeof *lower;
    for (uint32_t first = 0; kernels && first < all; first += (uint32_t)kernels->block) {
        uint16_t stored[2 * KERNELS_MAX_BLOCK] __attribute__((aligned(64)));
        uint16_t expected[2 * KERNELS_MAX_BLOCK];
        float v[KERNELS_MAX_BLOCK];
        memset(stored, 0xa5, sizeof stored);
        memset(expected, 0xa5, sizeof expected);
        for (uint32_t k = 0; k < (uint32_t)kernels->block; k++) {
            v[k] = float_of((first + k) << 16 | lower[(first + k) >> 16]);
            expected[k] = bf16_round(v[k]);
        }
        store(kernels, v, _i % 2, stored);
        if (memcmp(stored, expected, sizeof stored) != 0)
            ck_abort_msg("of %a to %a", (double)v[0], (double)v[kernels->block - 1]);
    }
}
END_TEST

/* --- passes --- */

#define ROWS   3
#define PIXELS 11
#define COUNT  ((size_t)ROWS * (PIXELS + 1) * KERNELS_MAX_BLOCK)

/* A value in both types, the same numbers. */
struct pair {
    uint16_t bf16[COUNT] __attribute__((aligned(64)));
    float f32[COUNT] __attribute__((aligned(64)));
};

static void pair_widen(struct pair *p)
{
    for (size_t i = 0; i < COUNT; i++)
        p->f32[i] = bf16_widen(p->bf16[i]);
}

static void pair_make(struct pair *p, uint64_t seed)
{
    const struct rng_stream stream = rng_stream(seed, RNG_RANDOM_DATA, 0, 0, 0);
    for (size_t i = 0; i < COUNT; i++)
        p->bf16[i] = bf16_round((float)rng_normal(&stream, i));
    pair_widen(p);
}

/* What f32 has is what bf16 has before it is rounded. */
static void check_pair(const struct pair *p)
{
    for (size_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(p->bf16[i], bf16_round(p->f32[i]));
}

static void factors_make(float factors[6][KERNELS_MAX_BLOCK])
{
    const struct rng_stream stream = rng_stream(9, RNG_RANDOM_DATA, 0, 0, 0);
    for (uint64_t i = 0; i < 6 * (uint64_t)KERNELS_MAX_BLOCK; i++)
        factors[i / KERNELS_MAX_BLOCK][i % KERNELS_MAX_BLOCK] = (float)rng_normal(&stream, i);
}

static struct slab slab_of(int block)
{
    return (struct slab){ROWS, PIXELS, (size_t)(PIXELS + 1) * (size_t)block};
}

START_TEST(sums_are_those_of_f32)
{
    const struct kernels *bf16 = kernels_find(blocks[_i], true),
                         *f32 = kernels_find(blocks[_i], false);
    double sums[2][2 * KERNELS_MAX_BLOCK];
    float factors[6][KERNELS_MAX_BLOCK];
    static struct pair x;
    if (!bf16)
        return;
    const struct slab slab = slab_of(bf16->block);
    factors_make(factors);
    pair_make(&x, 1);
    bf16->norm_sums(&slab, x.bf16, factors[0], sums[0]);
    f32->norm_sums(&slab, x.f32, factors[0], sums[1]);
    ck_assert_mem_eq(sums[0], sums[1], 2 * (size_t)bf16->block * sizeof(double));
}
END_TEST

/* Plain, with ReLU, with a residual; stored past the caches or not. */
START_TEST(results_are_those_of_f32)
{
    const struct kernels *bf16 = kernels_find(blocks[_i], true),
                         *f32 = kernels_find(blocks[_i], false);
    float factors[6][KERNELS_MAX_BLOCK];
    static struct pair x, residual, y;
    if (!bf16)
        return;
    factors_make(factors);
    pair_make(&x, 1);
    pair_make(&residual, 2);
    for (int what = 0; what < 6; what++) {
        uint16_t masks[2][COUNT] = {{0}};
        struct norm_forward args = {.slab = slab_of(bf16->block),
                                    .x = x.bf16,
                                    .residual = what / 2 == 2 ? residual.bf16 : NULL,
                                    .y = y.bf16,
                                    .mask = masks[0],
                                    .scale = factors[0],
                                    .shift = factors[1],
                                    .relu = what / 2 > 0,
                                    .stream = what % 2};
        pair_make(&y, 3);
        bf16->norm_forward(&args);
        args.x = x.f32;
        args.residual = args.residual ? residual.f32 : NULL;
        args.y = y.f32;
        args.mask = masks[1];
        f32->norm_forward(&args);
        check_pair(&y);
        ck_assert_mem_eq(masks[0], masks[1], sizeof masks[0]);
    }
}
END_TEST

struct gradients {
    struct pair x, dy, dy2, g, dx;
    uint16_t mask[COUNT];
};

/* What the pass reads in g are the rounded numbers. */
static void check_gradients(const struct kernels *bf16, const struct kernels *f32,
                            struct gradients *p, const struct norm_backward *t)
{
    double sums[2][2 * KERNELS_MAX_BLOCK];
    struct norm_backward args = *t;
    args.x = p->x.f32;
    args.dy = p->dy.f32;
    args.dy2 = t->dy2 ? p->dy2.f32 : NULL;
    args.g = p->g.f32;
    args.dx = p->dx.f32;
    bf16->norm_backward_sums(t, sums[0]);
    f32->norm_backward_sums(&args, sums[1]);
    ck_assert_mem_eq(sums[0], sums[1], 2 * (size_t)bf16->block * sizeof(double));
    check_pair(&p->g);
    pair_widen(&p->g);
    bf16->norm_backward_data(t);
    f32->norm_backward_data(&args);
    check_pair(&p->dx);
}

START_TEST(gradients_are_those_of_f32)
{
    const struct kernels *bf16 = kernels_find(blocks[_i], true),
                         *f32 = kernels_find(blocks[_i], false);
    static struct gradients p;
    float f[6][KERNELS_MAX_BLOCK];
    if (!bf16)
        return;
    factors_make(f);
    pair_make(&p.x, 1);
    pair_make(&p.dy, 2);
    pair_make(&p.dy2, 3);
    for (size_t i = 0; i < COUNT; i++)
        p.mask[i] = (uint16_t)(i * 40503 >> 4) & (bf16->block == 1 ? 1 : 0xffff);
    for (int what = 0; what < 12; what++) {
        const struct norm_backward args = {.slab = slab_of(bf16->block),
                                           .dy = p.dy.bf16,
                                           .dy2 = what & 1 ? p.dy2.bf16 : NULL,
                                           .x = p.x.bf16,
                                           .mask = what / 4 == 2 ? p.mask : NULL,
                                           .g = p.g.bf16,
                                           .dx = p.dx.bf16,
                                           .scale = f[0],
                                           .shift = f[1],
                                           .mean = f[2],
                                           .a = f[3],
                                           .b = f[4],
                                           .c = f[5],
                                           .relu = what / 4 > 0,
                                           .stream = what & 2};
        pair_make(&p.g, 4);
        pair_make(&p.dx, 5);
        check_gradients(bf16, f32, &p, &args);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("values of bf16");
    TCase *tc = tcase_create("kernels");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_number_is_loaded, 0, BLOCKS);
    tcase_add_loop_test(tc, every_number_is_rounded, 0, 2 * BLOCKS);
    tcase_add_loop_test(tc, sums_are_those_of_f32, 0, BLOCKS);
    tcase_add_loop_test(tc, results_are_those_of_f32, 0, BLOCKS);
    tcase_add_loop_test(tc, gradients_are_those_of_f32, 0, BLOCKS);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

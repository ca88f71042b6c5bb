/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "config.h"
#include "engine/device/bf16.h"
#include "engine/device/cpu/amx/kernels.h"
#include "tests/engine/device/cpu/amx/emulated.h"
#include "tests/engine/device/cpu/conv/run_kernel.h"
#include "tests/suites.h"

/*
 * What convolutions on tiles compute for the BatchNorms around them; their products are tested with
 * those of all kernels (cpu/conv/test_kernels.c). Numbers are small integers, so that whatever they
 * add up to is exact, in bf16 too.
 */

#define BLOCK 16

static const struct kind kinds[] = {
    {2, 2, 7, 7, 3, 1, 1}, {4, 2, 5, 9, 3, 2, 1}, {2, 6, 6, 4, 1, 2, 0},
    {4, 4, 1, 1, 3, 1, 1}, {2, 3, 9, 5, 5, 1, 2}, {1, 5, 4, 6, 3, 1, 1},
};

static const int row_counts[] = {1, 16, 37, 65};

struct trial {
    struct conv_shape shape;
    const struct conv_kernel *kernel;
    int threads;
    size_t src_count, dst_count, weight_count;
    uint16_t *x, *normed, *dst;
    float *weights, scale[96], shift[96];
};

static float integer(const struct rng_stream *stream, size_t i, int below)
{
    return (float)(int)(rng_word(stream, i) % (unsigned)(2 * below - 1)) - (float)(below - 1);
}

static uint16_t *values_make(size_t count, uint64_t seed)
{
    const struct rng_stream stream = rng_stream(seed, RNG_RANDOM_DATA, 0, 0, 0);
    uint16_t *list = aligned_alloc(64, (count * sizeof *list + 63) / 64 * 64);
    ck_assert_ptr_nonnull(list);
    for (size_t i = 0; i < count; i++)
        list[i] = bf16_round(integer(&stream, i, 3));
    return list;
}

static void trial_make(struct trial *t, const struct kind *k, int rows, int threads)
{
    const struct rng_stream stream = rng_stream(5, RNG_RANDOM_DATA, 0, 0, 0);
    t->shape = kind_shape(k, BLOCK, rows);
    t->shape.bf16 = true;
    const struct conv_shape *s = &t->shape;
    t->threads = threads;
    t->src_count = (size_t)rows * (size_t)s->in * (size_t)(s->in_h * s->in_w);
    t->dst_count = (size_t)rows * (size_t)s->out * (size_t)(s->out_h * s->out_w);
    t->weight_count = (size_t)s->in * (size_t)s->out * (size_t)(k->kernel * k->kernel);
    t->x = values_make(t->src_count, 1);
    t->normed = malloc(t->src_count * sizeof *t->normed);
    t->dst = values_make(t->dst_count, 3);
    t->weights = malloc(t->weight_count * sizeof(float));
    ck_assert(t->normed && t->weights);
    /* Most are zero, or sums would be too large for bf16. */
    for (size_t i = 0; i < t->weight_count; i++)
        t->weights[i] = rng_word(&stream, i) % 8 ? 0 : integer(&stream, i + t->weight_count, 2);
    for (size_t c = 0; c < (size_t)s->in; c++) {
        t->scale[c] = integer(&stream, c, 3);
        t->shift[c] = integer(&stream, c + 1000, 3);
    }
    for (size_t i = 0; i < t->src_count; i++) {
        const size_t c =
            i / (size_t)(s->in_h * s->in_w * BLOCK) * BLOCK % (size_t)s->in + i % BLOCK;
        const float y = bf16_widen(t->x[i]) * t->scale[c] + t->shift[c];
        t->normed[i] = bf16_round(y > 0 ? y : 0);
    }
}

static void trial_free(struct trial *t)
{
    free(t->x);
    free(t->normed);
    free(t->dst);
    free(t->weights);
}

static void run(const struct trial *t, struct conv_pass pass)
{
    run_kernel(t->kernel, &t->shape, t->threads, pass);
}

static void check_kernel(const struct conv_kernel *kernel, void (*check)(struct trial *))
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t r = 0; r < sizeof row_counts / sizeof *row_counts; r++)
            for (int threads = 1; threads <= 3; threads++) {
                struct trial t = {.kernel = kernel};
                trial_make(&t, &kinds[k], row_counts[r], threads);
                if (kernel->fits(&t.shape))
                    check(&t);
                else /* no matrix unit here */
                    ck_assert_ptr_eq(kernel, &amx_kernels[kernel->direction]);
                trial_free(&t);
            }
}

static void check_kernels(enum conv_direction direction, void (*check)(struct trial *))
{
    check_kernel(&emulated_amx_kernels[direction], check);
    check_kernel(&amx_kernels[direction], check);
}

static void check_norm_forward(struct trial *t)
{
    const struct conv_norm norm = {t->scale, t->shift};
    uint16_t *expected = values_make(t->dst_count, 4);
    run(t, (struct conv_pass){.x = t->normed, .w = t->weights, .y = expected});
    run(t, (struct conv_pass){.x = t->x, .norm = &norm, .w = t->weights, .y = t->dst});
    ck_assert_mem_eq(t->dst, expected, t->dst_count * sizeof *expected);
    free(expected);
}

static void check_norm_weights(struct trial *t)
{
    const struct conv_norm norm = {t->scale, t->shift};
    float *expected = malloc(t->weight_count * sizeof(float));
    ck_assert_ptr_nonnull(expected);
    run(t, (struct conv_pass){.x = t->normed, .dy = t->dst, .dw = expected});
    run(t, (struct conv_pass){.x = t->x, .norm = &norm, .dy = t->dst, .dw = t->weights});
    ck_assert_mem_eq(t->weights, expected, t->weight_count * sizeof(float));
    free(expected);
}

START_TEST(fused_norms_change_no_bit)
{
    check_kernels(CONV_FORWARD, check_norm_forward);
    check_kernels(CONV_BACKWARD_WEIGHTS, check_norm_weights);
}
END_TEST

static void check_moments(struct trial *t)
{
    const struct conv_shape *s = &t->shape;
    const int blocks = s->out / BLOCK;
    const size_t count = (size_t)blocks * (size_t)t->threads;
    struct conv_moments *moments = malloc(count * sizeof *moments);
    ck_assert_ptr_nonnull(moments);
    memset(moments, 0xff, count * sizeof *moments);
    run(t, (struct conv_pass){.x = t->x, .w = t->weights, .y = t->dst, .moments = moments});
    for (int c = 0; c < s->out; c++) {
        const int block = c / BLOCK, pixels = s->out_h * s->out_w;
        double sums[2 * BLOCK], sum = 0, square = 0;
        float origin[BLOCK];
        conv_moments_join(moments + block, blocks, t->threads, BLOCK, sums, origin);
        for (int i = 0; i < s->rows * pixels; i++) {
            const size_t plane = (size_t)(i / pixels * blocks + block);
            const double off =
                (double)bf16_widen(t->dst[(plane * (size_t)pixels + (size_t)(i % pixels)) * BLOCK +
                                          (size_t)(c % BLOCK)]) -
                (double)origin[c % BLOCK];
            sum += off;
            square += off * off;
        }
        ck_assert_double_eq(sums[c % BLOCK], sum);
        ck_assert_double_eq(sums[BLOCK + c % BLOCK], square);
    }
    free(moments);
}

START_TEST(moments_are_of_the_result)
{
    check_kernels(CONV_FORWARD, check_moments);
}
END_TEST

#if defined(HAVE_AMX)
START_TEST(kernels_are_built)
{
    ck_assert_ptr_nonnull(amx_kernels[_i].run);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("convolutions on tiles");
    TCase *fused = tcase_create("fused");
    tcase_set_timeout(fused, 120);
    tcase_add_test(fused, fused_norms_change_no_bit);
    tcase_add_test(fused, moments_are_of_the_result);
#if defined(HAVE_AMX)
    tcase_add_loop_test(fused, kernels_are_built, CONV_FORWARD, CONV_BACKWARD_WEIGHTS + 1);
#endif
    suite_add_tcase(suite, fused);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/winograd/weights.h"
#include "tests/suites.h"

/* The gradient of 3x3 weights by Winograd's algorithm against plain loops in f64. */

#if defined(__x86_64__)

/* Memory of one pass. */
struct trial {
    struct conv_shape shape;
    int block;
    float *x, *dy, *dw, *dbias;
    size_t weights;
};

static float *numbers(size_t count)
{
    float *list = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
    ck_assert_ptr_nonnull(list);
    return list;
}

static float *random_numbers(uint64_t seed, size_t count)
{
    float *list = numbers(count);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        list[i] = (float)((double)(seed >> 11) * 0x1p-52 - 1);
    }
    return list;
}

static void trial_make(struct trial *t, int block, const struct conv_shape *shape)
{
    *t = (struct trial){.shape = *shape, .block = block};
    struct conv_shape *s = &t->shape;
    s->in_block = s->out_block = block;
    s->kernel_h = s->kernel_w = 3;
    s->stride_h = s->stride_w = s->dilation_h = s->dilation_w = s->groups = 1;
    s->out_h = s->in_h + 2 * s->pad_h - 2;
    s->out_w = s->in_w + 2 * s->pad_w - 2;
    t->weights = (size_t)s->in * (size_t)s->out * 9;
    t->x = random_numbers(1, (size_t)s->rows * s->in * s->in_h * s->in_w);
    t->dy = random_numbers(2, (size_t)s->rows * s->out * s->out_h * s->out_w);
    t->dw = numbers(t->weights);
    t->dbias = numbers((size_t)s->out);
}

static void trial_free(struct trial *t)
{
    free(t->x);
    free(t->dy);
    free(t->dw);
    free(t->dbias);
}

/* Everything that has to be written, and the scratch memory, is NaN before. */
static void trial_run(struct trial *t, const struct conv_kernel *kernel, int threads, bool bias)
{
    const size_t bytes = kernel->scratch(&t->shape, kernel->direction, threads);
    const size_t size = (bytes + 4095) / 4096 * 4096;
    unsigned char *scratch = aligned_alloc(4096, size + 4096);
    ck_assert_ptr_nonnull(scratch);
    memset(scratch, 0xff, size + 4096);
    memset(t->dw, 0xff, t->weights * sizeof(float));
    memset(t->dbias, 0xff, (size_t)t->shape.out * sizeof(float));
    const struct conv_pass pass = {.shape = &t->shape,
                                   .direction = kernel->direction,
                                   .threads = threads,
                                   .x = t->x,
                                   .dy = t->dy,
                                   .dw = t->dw,
                                   .dbias = bias ? t->dbias : NULL,
                                   .scratch = scratch};
    kernel->run(&pass);
    for (size_t i = bytes; i < size + 4096; i++)
        ck_assert_msg(scratch[i] == 0xff, "byte %zu of %zu of scratch was written", i, bytes);
    free(scratch);
}

static double input_at(const struct trial *t, int row, int channel, int y, int x)
{
    const struct conv_shape *s = &t->shape;
    if (y < 0 || x < 0 || y >= s->in_h || x >= s->in_w)
        return 0;
    const size_t plane = (size_t)row * (size_t)(s->in / t->block) + (size_t)(channel / t->block);
    const size_t pixel = (plane * (size_t)s->in_h + (size_t)y) * (size_t)s->in_w + (size_t)x;
    return t->x[pixel * (size_t)t->block + (size_t)(channel % t->block)];
}

static double gradient_at(const struct trial *t, int row, int channel, int y, int x)
{
    const struct conv_shape *s = &t->shape;
    const size_t plane = (size_t)row * (size_t)(s->out / t->block) + (size_t)(channel / t->block);
    const size_t pixel = (plane * (size_t)s->out_h + (size_t)y) * (size_t)s->out_w + (size_t)x;
    return t->dy[pixel * (size_t)t->block + (size_t)(channel % t->block)];
}

/* dw of filter position (ky, kx); with `bias`, the gradient of the bias. */
static double reference(const struct trial *t, int out, int in, int ky, int kx, bool bias)
{
    const struct conv_shape *s = &t->shape;
    double sum = 0;
    for (int n = 0; n < s->rows; n++)
        for (int y = 0; y < s->out_h; y++)
            for (int x = 0; x < s->out_w; x++)
                sum += gradient_at(t, n, out, y, x) *
                       (bias ? 1 : input_at(t, n, in, y + ky - s->pad_h, x + kx - s->pad_w));
    return sum;
}

/* Root of the mean square error of every `step`th weight, relative to that of the weights. */
static double error_of_weights(const struct trial *t, size_t step)
{
    const int block = t->block, in_blocks = t->shape.in / block;
    double error = 0, all = 0;
    for (size_t i = 0; i < t->weights; i += step) {
        const int out = (int)(i % (size_t)block), in = (int)(i / (size_t)block) % block;
        const int k = (int)(i / (size_t)(block * block) % 9);
        const int blocks = (int)(i / (size_t)(block * block * 9));
        const double right = reference(t, blocks / in_blocks * block + out,
                                       blocks % in_blocks * block + in, k / 3, k % 3, false);
        error += (t->dw[i] - right) * (t->dw[i] - right);
        all += right * right;
    }
    return sqrt(error / all);
}

static double error_of_bias(const struct trial *t)
{
    double error = 0, all = 0;
    for (int out = 0; out < t->shape.out; out++) {
        const double right = reference(t, out, 0, 0, 0, true);
        error += (t->dbias[out] - right) * (t->dbias[out] - right);
        all += right * right;
    }
    return sqrt(error / all);
}

static const struct conv_kernel *kernel_of(int index)
{
    if (index == 1 && __builtin_cpu_supports("avx512f"))
        return winograd_weights_16;
    if (index == 0 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return winograd_weights_8;
    return NULL;
}

/* Channels are in blocks of 8 here, in blocks of 16 there. */
static const struct conv_shape shapes[] = {
    {.rows = 1, .in = 1, .out = 1, .in_h = 4, .in_w = 4, .pad_h = 1, .pad_w = 1},
    {.rows = 2, .in = 2, .out = 1, .in_h = 3, .in_w = 3, .pad_h = 0, .pad_w = 0},
    {.rows = 2, .in = 1, .out = 3, .in_h = 1, .in_w = 9, .pad_h = 1, .pad_w = 0},
    {.rows = 17, .in = 3, .out = 2, .in_h = 7, .in_w = 5, .pad_h = 1, .pad_w = 1},
    {.rows = 17, .in = 1, .out = 5, .in_h = 11, .in_w = 6, .pad_h = 0, .pad_w = 1},
    {.rows = 2, .in = 9, .out = 4, .in_h = 14, .in_w = 13, .pad_h = 1, .pad_w = 1},
    {.rows = 3, .in = 10, .out = 11, .in_h = 6, .in_w = 6, .pad_h = 1, .pad_w = 1},
    {.rows = 70, .in = 2, .out = 2, .in_h = 8, .in_w = 8, .pad_h = 1, .pad_w = 1},
};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))

START_TEST(equals_plain_loops)
{
    const struct conv_kernel *kernel = kernel_of(_i % 2);
    if (!kernel)
        return;
    struct conv_shape shape = shapes[_i / 2];
    struct trial t;
    shape.in *= kernel->block;
    shape.out *= kernel->block;
    trial_make(&t, kernel->block, &shape);
    ck_assert(kernel->fits(&t.shape));
    for (int threads = 1; threads <= 3; threads++) {
        trial_run(&t, kernel, threads, true);
        ck_assert_double_lt(error_of_weights(&t, 7), 3e-6);
        ck_assert_double_lt(error_of_bias(&t), 1e-6);
    }
    trial_free(&t);
}
END_TEST

/* The first convolutions of a ResNet-18, whose sums are the longest. */
START_TEST(long_sums_stay_exact)
{
    const struct conv_kernel *kernel = kernel_of(_i);
    if (!kernel)
        return;
    struct trial t;
    trial_make(
        &t, kernel->block,
        &(struct conv_shape){
            .rows = 256, .in = 64, .out = 64, .in_h = 28, .in_w = 28, .pad_h = 1, .pad_w = 1});
    trial_run(&t, kernel, 2, true);
    ck_assert_double_lt(error_of_weights(&t, 367), 4e-6);
    ck_assert_double_lt(error_of_bias(&t), 1e-6);
    trial_free(&t);
}
END_TEST

START_TEST(gives_the_same_bits_each_time)
{
    const struct conv_kernel *kernel = kernel_of(_i);
    if (!kernel)
        return;
    for (int threads = 1; threads <= 3; threads++)
        for (int i = 0; i < SHAPES; i++) {
            struct conv_shape shape = shapes[i];
            struct trial t;
            shape.in *= kernel->block;
            shape.out *= kernel->block;
            trial_make(&t, kernel->block, &shape);
            trial_run(&t, kernel, threads, true);
            float *first = numbers(t.weights);
            memcpy(first, t.dw, t.weights * sizeof(float));
            trial_run(&t, kernel, threads, false);
            ck_assert_mem_eq(first, t.dw, t.weights * sizeof(float));
            for (int c = 0; c < t.shape.out; c++)
                ck_assert(isnan(t.dbias[c]));
            free(first);
            trial_free(&t);
        }
}
END_TEST

START_TEST(refuses_other_convolutions)
{
    const struct conv_kernel *kernel = _i ? winograd_weights_16 : winograd_weights_8;
    struct trial t;
    trial_make(&t, kernel->block,
               &(struct conv_shape){.rows = 1, .in = 16, .out = 16, .in_h = 6, .in_w = 6});
    ck_assert(kernel->fits(&t.shape));
    struct conv_shape s = t.shape;
    s.stride_h = 2;
    ck_assert(!kernel->fits(&s));
    s = t.shape;
    s.kernel_w = 1;
    ck_assert(!kernel->fits(&s));
    s = t.shape;
    s.in_block = 1;
    ck_assert(!kernel->fits(&s));
    s = t.shape;
    s.pad_w = 2;
    ck_assert(!kernel->fits(&s));
    trial_free(&t);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("winograd weights");
#if defined(__x86_64__)
    TCase *tc = tcase_create("weights");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, equals_plain_loops, 0, 2 * SHAPES);
    tcase_add_loop_test(tc, long_sums_stay_exact, 0, 2);
    tcase_add_loop_test(tc, gives_the_same_bits_each_time, 0, 2);
    tcase_add_loop_test(tc, refuses_other_convolutions, 0, 2);
    suite_add_tcase(suite, tc);
#endif
    return run_suites(suite, NULL);
}

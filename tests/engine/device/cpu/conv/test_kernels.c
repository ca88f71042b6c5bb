/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/bf16.h"
#include "engine/device/cpu/autotune/algorithms.h"
#include "tests/engine/device/cpu/amx/emulated.h"
#include "tests/engine/device/cpu/conv/run_kernel.h"
#include "tests/suites.h"

/*
 * Every kernel of our own that this processor runs, against a plain convolution in double
 * precision, in all sizes that are special somewhere.
 */

#define GUARD 64 /* numbers behind each result that must stay as they are */

/* Relative rms error that a kernel may make. Winograd's transforms cost some bits: the library's is
 * at 5e-7 to 2e-6 too, and more in few sums over many channels. */
#define TOLERANCE 5e-6

/* And by how much rounding to bf16 moves a number, relative to it. */
#define HALF_BF16 0x1p-8

struct kind {
    int in, out; /* blocks */
    int in_h, in_w, kernel, stride, pad;
};

static const struct kind kinds[] = {
    {1, 1, 4, 4, 3, 1, 1},   {2, 3, 7, 7, 3, 1, 1},  {3, 2, 5, 9, 3, 1, 1},
    {1, 2, 14, 14, 3, 1, 1}, {5, 1, 1, 1, 3, 1, 1},  {2, 2, 3, 13, 3, 1, 0},
    {1, 4, 28, 28, 3, 1, 1}, {4, 4, 6, 11, 3, 1, 0}, {2, 4, 14, 14, 3, 2, 1},
    {4, 3, 7, 7, 3, 2, 1},   {1, 2, 9, 6, 3, 2, 1},  {2, 3, 28, 28, 1, 2, 0},
    {3, 4, 7, 7, 1, 2, 0},   {4, 2, 5, 8, 1, 1, 0},  {2, 2, 1, 1, 1, 1, 0},
    {33, 2, 4, 4, 3, 1, 1},  {3, 19, 2, 3, 3, 1, 1},
};

static struct conv_shape shape_of(const struct kind *k, int block, int rows)
{
    struct conv_shape s;
    memset(&s, 0, sizeof s);
    s.rows = rows;
    s.in = k->in * block;
    s.out = k->out * block;
    s.in_block = s.out_block = block;
    s.in_h = k->in_h;
    s.in_w = k->in_w;
    s.kernel_h = s.kernel_w = k->kernel;
    s.stride_h = s.stride_w = k->stride;
    s.pad_h = s.pad_w = k->pad;
    s.dilation_h = s.dilation_w = s.groups = 1;
    s.out_h = (s.in_h + 2 * s.pad_h - s.kernel_h) / s.stride_h + 1;
    s.out_w = (s.in_w + 2 * s.pad_w - s.kernel_w) / s.stride_w + 1;
    return s;
}

/* --- numbers in the blocked layouts --- */

/*
 * Much of the time is spent in the plain convolution, which sanitizers would multiply. They are for
 * the kernels, which run on arrays that are as large as they have to be.
 */
#define UNCHECKED __attribute__((no_sanitize("address"), no_sanitize("undefined")))

UNCHECKED static size_t src_at(const struct conv_shape *s, int n, int c, int h, int w)
{
    int b = s->in_block;
    return ((((size_t)n * (s->in / b) + c / b) * s->in_h + h) * s->in_w + w) * b + c % b;
}

UNCHECKED static size_t dst_at(const struct conv_shape *s, int n, int c, int h, int w)
{
    int b = s->out_block;
    return ((((size_t)n * (s->out / b) + c / b) * s->out_h + h) * s->out_w + w) * b + c % b;
}

UNCHECKED static size_t weight_at(const struct conv_shape *s, int o, int i, int h, int w)
{
    int b = s->in_block;
    size_t square = ((((size_t)(o / b) * (s->in / b) + i / b) * s->kernel_h + h) * s->kernel_w + w);
    return (square * b + i % b) * b + o % b;
}

/* Arrays of one case: `count` numbers with a guard behind them. */
struct array {
    void *data;
    float *before; /* what was in it in front of the pass */
    double *expected;
    size_t count;
    bool bf16; /* the numbers are, otherwise f32 */
};

enum { SRC, DST, WEIGHTS, BIAS, SEEDS };

/* The first `count` numbers of a seed at least: each is made once, for all cases of a test. */
static const float *numbers_of(int seed, size_t count)
{
    static struct {
        float *numbers;
        size_t count;
    } made[SEEDS];
    const struct rng_stream stream = rng_stream((uint64_t)seed + 1, RNG_RANDOM_DATA, 0, 0, 0);
    if (made[seed].count < count) {
        made[seed].numbers = realloc(made[seed].numbers, count * sizeof(float));
        ck_assert_ptr_nonnull(made[seed].numbers);
    }
    for (; made[seed].count < count; made[seed].count++)
        made[seed].numbers[made[seed].count] = (float)rng_normal(&stream, made[seed].count);
    return made[seed].numbers;
}

static size_t array_bytes(const struct array *a, size_t count)
{
    return count * (a->bf16 ? sizeof(uint16_t) : sizeof(float));
}

static float number_at(const struct array *a, size_t i)
{
    return a->bf16 ? bf16_widen(((const uint16_t *)a->data)[i]) : ((const float *)a->data)[i];
}

static void array_reset(struct array *a)
{
    if (!a->bf16)
        memcpy(a->data, a->before, array_bytes(a, a->count + GUARD));
    else
        for (size_t i = 0; i < a->count + GUARD; i++)
            ((uint16_t *)a->data)[i] = bf16_round(a->before[i]);
}

static void array_make(struct array *a, size_t count, int seed, bool bf16)
{
    const float *numbers = numbers_of(seed, count + GUARD);
    a->count = count;
    a->bf16 = bf16;
    a->data = aligned_alloc(64, (array_bytes(a, count + GUARD) + 63) / 64 * 64);
    a->before = malloc((count + GUARD) * sizeof(float));
    a->expected = calloc(count, sizeof(double));
    ck_assert(a->data && a->before && a->expected);
    for (size_t i = 0; i < count + GUARD; i++)
        a->before[i] = bf16 ? bf16_widen(bf16_round(numbers[i])) : numbers[i];
    array_reset(a);
}

static void array_free(struct array *a)
{
    free(a->data);
    free(a->before);
    free(a->expected);
}

struct trial {
    struct conv_shape shape;
    struct array src, dst, weights, bias;
};

/* With weights that are bf16, for kernels that round them, or any others. */
static void trial_make(struct trial *t, const struct conv_shape *s, bool rounded)
{
    t->shape = *s;
    array_make(&t->src, (size_t)s->rows * s->in * s->in_h * s->in_w, SRC, s->bf16);
    array_make(&t->dst, (size_t)s->rows * s->out * s->out_h * s->out_w, DST, s->bf16);
    array_make(&t->weights, (size_t)s->in * s->out * s->kernel_h * s->kernel_w, WEIGHTS, false);
    array_make(&t->bias, (size_t)s->out, BIAS, false);
    for (size_t i = 0; rounded && i < t->weights.count; i++)
        t->weights.before[i] = bf16_widen(bf16_round(t->weights.before[i]));
    array_reset(&t->weights);
}

static void trial_free(struct trial *t)
{
    array_free(&t->src);
    array_free(&t->dst);
    array_free(&t->weights);
    array_free(&t->bias);
}

/* One number of the source and a block of the destination's, which lie together as weights do. */
UNCHECKED static void add_block(struct trial *t, enum conv_direction direction, size_t src,
                                size_t dst, size_t weight)
{
    const size_t block = (size_t)t->shape.out_block;
    const double x = (double)t->src.before[src];
    const float *y = t->dst.before + dst, *w = t->weights.before + weight;
    double *to_dst = t->dst.expected + dst, *to_weights = t->weights.expected + weight, sum = 0;
    switch (direction) {
    case CONV_FORWARD:
        for (size_t k = 0; k < block; k++)
            to_dst[k] += x * (double)w[k];
        break;
    case CONV_BACKWARD_DATA:
        for (size_t k = 0; k < block; k++)
            sum += (double)y[k] * (double)w[k];
        t->src.expected[src] += sum;
        break;
    case CONV_BACKWARD_WEIGHTS:
        for (size_t k = 0; k < block; k++)
            to_weights[k] += x * (double)y[k];
        break;
    }
}

/* One pair of pixels under one tap: what it gives to the result of the direction. */
UNCHECKED static void add_products(struct trial *t, enum conv_direction direction, int n, int oh,
                                   int ow, int kh, int kw)
{
    const struct conv_shape *s = &t->shape;
    const int h = oh * s->stride_h - s->pad_h + kh, w = ow * s->stride_w - s->pad_w + kw;
    if (h < 0 || h >= s->in_h || w < 0 || w >= s->in_w)
        return;
    for (int i = 0; i < s->in; i++)
        for (int o = 0; o < s->out; o += s->out_block)
            add_block(t, direction, src_at(s, n, i, h, w), dst_at(s, n, o, oh, ow),
                      weight_at(s, o, i, kh, kw));
}

/* What is done around the products: bias, addition, ReLU; the gradient of the bias. */
UNCHECKED static void finish_expected(struct trial *t, enum conv_direction direction)
{
    const struct conv_shape *s = &t->shape;
    for (int n = 0; n < s->rows; n++)
        for (int o = 0; o < s->out; o++)
            for (int pixel = 0; pixel < s->out_h * s->out_w; pixel++) {
                const size_t at = dst_at(s, n, o, pixel / s->out_w, pixel % s->out_w);
                double *y = &t->dst.expected[at];
                if (direction == CONV_BACKWARD_WEIGHTS) {
                    t->bias.expected[o] += (double)t->dst.before[at];
                    continue;
                }
                *y += s->bias ? (double)t->bias.before[o] : 0;
                *y += s->add ? (double)t->dst.before[at] : 0;
                *y = s->relu && *y < 0 ? 0 : *y;
            }
}

static void expect(struct trial *t, enum conv_direction direction)
{
    const struct conv_shape *s = &t->shape;
    for (int n = 0; n < s->rows; n++)
        for (int pixel = 0; pixel < s->out_h * s->out_w; pixel++)
            for (int tap = 0; tap < s->kernel_h * s->kernel_w; tap++)
                add_products(t, direction, n, pixel / s->out_w, pixel % s->out_w, tap / s->kernel_w,
                             tap % s->kernel_w);
    finish_expected(t, direction);
}

/* --- passes --- */

static void check_guard(const struct array *a, const char *what)
{
    for (size_t i = a->count; i < a->count + GUARD; i++)
        ck_assert_msg(number_at(a, i) == a->before[i], "%s: written past its end", what);
}

/* Of bf16 only what cannot be the rounding of each number is an error. */
static void check_result(const struct array *a, const char *what)
{
    double off = 0, size = 0;
    for (size_t i = 0; i < a->count; i++) {
        const double rounding = a->bf16 ? HALF_BF16 * fabs(a->expected[i]) : 0;
        const double error = fabs((double)number_at(a, i) - a->expected[i]);
        off += error <= rounding ? 0 : pow(error - rounding, 2); /* NaN is an error */
        size += pow(a->expected[i], 2);
    }
    ck_assert_msg(off <= TOLERANCE * TOLERANCE * size, "%s: relative error %g", what,
                  sqrt(off / size));
}

static void run(struct trial *t, const struct conv_kernel *kernel, int threads)
{
    struct conv_pass pass = {0};
    conv_pass_point(&pass, kernel->direction, t->src.data, t->weights.data,
                    t->shape.bias ? t->bias.data : NULL, t->dst.data);
    run_kernel(kernel, &t->shape, threads, pass);
}

static struct array *result_of(struct trial *t, enum conv_direction direction)
{
    return direction == CONV_FORWARD         ? &t->dst
           : direction == CONV_BACKWARD_DATA ? &t->src
                                             : &t->weights;
}

static void check_trial(struct trial *t, const struct conv_kernel *kernel, int threads)
{
    const struct conv_shape *s = &t->shape;
    struct array *result = result_of(t, kernel->direction);
    const bool with_bias = s->bias && kernel->direction == CONV_BACKWARD_WEIGHTS;
    const size_t bytes = array_bytes(result, result->count);
    void *first = malloc(bytes);
    char what[160];
    snprintf(
        what, sizeof what,
        "%s, direction %d, blocks of %d, %d threads: %d rows, %d->%d, %dx%d, %dx%d/%d, pad %d%s%s",
        kernel->name, (int)kernel->direction, s->in_block, threads, s->rows, s->in, s->out, s->in_h,
        s->in_w, s->kernel_h, s->kernel_w, s->stride_h, s->pad_h, s->bias ? ", bias" : "",
        s->bf16 ? ", bf16" : "");
    ck_assert_ptr_nonnull(first);
    for (int round = 0; round < 2; round++) {
        array_reset(result);
        if (!s->add)
            memset(result->data, 0xff, bytes);
        run(t, kernel, threads);
        if (round == 0)
            memcpy(first, result->data, bytes);
    }
    ck_assert_msg(memcmp(first, result->data, bytes) == 0, "%s: does not repeat", what);
    check_result(result, what);
    if (with_bias)
        check_result(&t->bias, what);
    check_guard(&t->src, what);
    check_guard(&t->dst, what);
    check_guard(&t->weights, what);
    check_guard(&t->bias, what);
    array_reset(result);
    array_reset(&t->bias);
    free(first);
}

/* This processor's kernels that fit a shape, and an emulated one. */
static int fitting(const struct conv_shape *s, enum conv_direction direction,
                   const struct conv_kernel *list[CONV_MOST_ALGORITHMS])
{
    int count = 0;
    for (const struct conv_kernel *const *k = conv_kernels(direction, s->in_block); *k; k++) {
        ck_assert_int_eq((*k)->direction, direction);
        ck_assert_int_eq((*k)->block, s->in_block);
        if ((*k)->fits(s))
            list[count++] = *k;
    }
    if (emulated_amx_kernels[direction].fits(s))
        list[count++] = &emulated_amx_kernels[direction];
    return count;
}

/* Those of bf16 alone do. */
static bool rounds_weights(const struct conv_kernel *kernel, const struct conv_shape *s)
{
    struct conv_shape exact = *s;
    exact.bf16 = false;
    return !kernel->fits(&exact);
}

static void check_shape(const struct conv_shape *s, enum conv_direction direction)
{
    const struct conv_kernel *kernels[CONV_MOST_ALGORITHMS];
    const int count = fitting(s, direction, kernels);
    struct trial t;
    for (int rounded = 0; rounded < 2; rounded++) {
        bool made = false;
        for (int i = 0; i < count; i++) {
            if (rounds_weights(kernels[i], s) != rounded)
                continue;
            if (!made) {
                trial_make(&t, s, rounded);
                expect(&t, direction);
                made = true;
            }
            for (int threads = 1; threads <= 3; threads++)
                check_trial(&t, kernels[i], threads);
        }
        if (made)
            trial_free(&t);
    }
}

static void check_direction(enum conv_direction direction)
{
    static const int rows[] = {1, 2, 17};
    for (int block = 8; block <= 16; block += 8)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int r = 0; r < 3; r++) {
                struct conv_shape s = shape_of(&kinds[k], block, rows[r]);
                check_shape(&s, direction);
                s.bias = true;
                if (direction != CONV_BACKWARD_DATA && r == 1)
                    check_shape(&s, direction);
                s.bf16 = true;
                if (r > 0)
                    check_shape(&s, direction);
            }
}

START_TEST(forward_is_right)
{
    check_direction(CONV_FORWARD);
}
END_TEST

START_TEST(data_gradient_is_right)
{
    check_direction(CONV_BACKWARD_DATA);
}
END_TEST

START_TEST(weight_gradient_is_right)
{
    check_direction(CONV_BACKWARD_WEIGHTS);
}
END_TEST

/* Every combination of bias, addition and ReLU behind the products. */
START_TEST(results_are_finished)
{
    for (int block = 8; block <= 16; block += 8)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k += 2)
            for (int what = 1; what < 8; what++) {
                struct conv_shape s = shape_of(&kinds[k], block, 2);
                s.bias = what & 1;
                s.add = what & 2;
                s.relu = what & 4;
                check_shape(&s, CONV_FORWARD);
                s.bf16 = true;
                check_shape(&s, CONV_FORWARD);
            }
}
END_TEST

/* Results of 4 MB and more, too large for the caches, are stored past them. */
START_TEST(large_results_are_right)
{
    for (int block = 8; block <= 16; block += 8) {
        const struct kind kind = {1, 2, 56, 57, 3, 1, 1};
        const struct conv_shape s = shape_of(&kind, block, 128 / block * 3);
        check_shape(&s, CONV_FORWARD);
        check_shape(&s, CONV_BACKWARD_DATA);
    }
}
END_TEST

/* --- bf16 --- */

/* What the results are before they are stored: those of f32 from the same numbers. */
static void check_rounding(struct trial *t, const struct conv_kernel *kernel)
{
    struct conv_shape shape = t->shape;
    struct trial exact;
    shape.bf16 = false;
    trial_make(&exact, &shape, false);
    memcpy(exact.src.before, t->src.before, t->src.count * sizeof(float));
    memcpy(exact.dst.before, t->dst.before, t->dst.count * sizeof(float));
    array_reset(&exact.src);
    array_reset(&exact.dst);
    run(&exact, kernel, 2);
    run(t, kernel, 2);
    const struct array *from = result_of(&exact, kernel->direction),
                       *to = result_of(t, kernel->direction);
    for (size_t i = 0; i < to->count; i++) {
        const float x = number_at(from, i);
        ck_assert_float_eq(number_at(to, i), to->bf16 ? bf16_widen(bf16_round(x)) : x);
    }
    ck_assert_mem_eq(exact.bias.data, t->bias.data, array_bytes(&exact.bias, exact.bias.count));
    trial_free(&exact);
}

/* Kernels of both types: those of Winograd. */
static void check_bf16(const struct conv_shape *s, enum conv_direction direction)
{
    const struct conv_kernel *kernels[CONV_MOST_ALGORITHMS];
    const bool winograd =
        conv_kernels(direction, s->in_block)[0] && s->kernel_h == 3 && s->stride_h == 1;
    const int count = fitting(s, direction, kernels);
    int checked = 0;
    struct trial t;
    for (int i = 0; i < count; i++)
        if (!rounds_weights(kernels[i], s)) {
            trial_make(&t, s, false);
            check_rounding(&t, kernels[i]);
            trial_free(&t);
            checked++;
        }
    ck_assert_int_eq(checked, winograd);
}

/* The last kind's results are stored past the caches. */
START_TEST(bf16_is_rounded_f32)
{
    static const struct kind large = {1, 2, 56, 57, 3, 1, 1};
    const size_t count = sizeof kinds / sizeof *kinds;
    for (int block = 8; block <= 16; block += 8)
        for (size_t k = 0; k <= count; k++) {
            struct conv_shape s =
                shape_of(k < count ? &kinds[k] : &large, block, k < count ? 17 : 128 / block * 6);
            s.bias = s.bf16 = true;
            for (int d = CONV_FORWARD; d <= CONV_BACKWARD_WEIGHTS; d++)
                check_bf16(&s, (enum conv_direction)d);
        }
}
END_TEST

START_TEST(dilated_windows_are_left_to_the_library)
{
    for (int block = 8; block <= 16; block += 8)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            struct conv_shape s = shape_of(&kinds[k], block, 2);
            struct conv_algorithm list[CONV_MOST_ALGORITHMS];
            s.dilation_w = 2;
            for (int d = CONV_FORWARD; d <= CONV_BACKWARD_WEIGHTS; d++) {
                ck_assert_int_eq(conv_algorithms(&s, (enum conv_direction)d, list), 1);
                ck_assert_ptr_null(list[0].kernel);
            }
        }
}
END_TEST

/* Kernels of bf16 take 16 or 32 rows together: several of these, which threads divide. The first
 * kind's weights are too large for emulated threads to have gradients of their own, and the second
 * is one pair of blocks, whose products threads cannot divide. */
START_TEST(groups_of_rows_are_right)
{
    static const struct kind groups[] = {{5, 3, 5, 4, 3, 1, 1}, {2, 1, 3, 3, 3, 2, 1}};
    static const int rows[] = {33, 97};
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
        for (int r = 0; r < 2; r++) {
            struct conv_shape s = shape_of(&groups[k], 16, rows[r]);
            s.bias = s.bf16 = true;
            check_shape(&s, CONV_FORWARD);
            check_shape(&s, CONV_BACKWARD_DATA);
            check_shape(&s, CONV_BACKWARD_WEIGHTS);
        }
}
END_TEST

/* So large that three threads cannot have gradients of their own, and that it does not pay to
 * transform all of them before they multiply few rows. */
START_TEST(large_weights_are_right)
{
    for (int block = 8; block <= 16; block += 8) {
        const struct kind strided = {256 / block, 512 / block, 13, 7, 3, 2, 1};
        const struct kind plain = {176 / block, 176 / block, 7, 7, 3, 1, 1};
        struct conv_shape s = shape_of(&strided, block, 5);
        check_shape(&s, CONV_BACKWARD_WEIGHTS);
        s = shape_of(&plain, block, 5);
        check_shape(&s, CONV_FORWARD);
        check_shape(&s, CONV_BACKWARD_DATA);
    }
}
END_TEST

#if defined(__x86_64__)
START_TEST(vectors_have_kernels)
{
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        ck_assert_ptr_nonnull(conv_kernels(CONV_FORWARD, 8)[0]);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        ck_assert_ptr_nonnull(conv_kernels(CONV_FORWARD, 16)[0]);
    ck_assert_ptr_null(conv_kernels(CONV_FORWARD, 1)[0]);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("kernels of convolutions");
    TCase *kernels = tcase_create("kernels");
    tcase_set_timeout(kernels, 300);
    tcase_add_test(kernels, forward_is_right);
    tcase_add_test(kernels, data_gradient_is_right);
    tcase_add_test(kernels, weight_gradient_is_right);
    tcase_add_test(kernels, results_are_finished);
    tcase_add_test(kernels, large_results_are_right);
    tcase_add_test(kernels, bf16_is_rounded_f32);
    tcase_add_test(kernels, dilated_windows_are_left_to_the_library);
    tcase_add_test(kernels, groups_of_rows_are_right);
    tcase_add_test(kernels, large_weights_are_right);
#if defined(__x86_64__)
    tcase_add_test(kernels, vectors_have_kernels);
#endif
    suite_add_tcase(suite, kernels);
    return run_suites(suite, NULL);
}

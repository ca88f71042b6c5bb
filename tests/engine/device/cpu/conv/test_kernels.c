/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/device/cpu/autotune/algorithms.h"
#include "tests/engine/device/cpu/amx/emulated.h"
#include "tests/engine/device/cpu/conv/conv_trial.h"
#include "tests/suites.h"

/*
 * Every kernel of our own that this processor runs, against a plain convolution in double
 * precision, in all sizes that are special somewhere.
 */

/* Relative rms error that a kernel may make. Winograd's transforms cost some bits: the library's is
 * at 5e-7 to 2e-6 too, and more in few sums over many channels. */
#define TOLERANCE 5e-6

/* And by how much rounding to bf16 moves a number, relative to it. */
#define HALF_BF16 0x1p-8

static const struct kind kinds[] = {
    {1, 1, 4, 4, 3, 1, 1},   {2, 3, 7, 7, 3, 1, 1},  {3, 2, 5, 9, 3, 1, 1},
    {1, 2, 14, 14, 3, 1, 1}, {5, 1, 1, 1, 3, 1, 1},  {2, 2, 3, 13, 3, 1, 0},
    {1, 4, 28, 28, 3, 1, 1}, {4, 4, 6, 11, 3, 1, 0}, {2, 4, 14, 14, 3, 2, 1},
    {4, 3, 7, 7, 3, 2, 1},   {1, 2, 9, 6, 3, 2, 1},  {2, 3, 28, 28, 1, 2, 0},
    {3, 4, 7, 7, 1, 2, 0},   {4, 2, 5, 8, 1, 1, 0},  {2, 2, 1, 1, 1, 1, 0},
    {33, 2, 4, 4, 3, 1, 1},  {3, 19, 2, 3, 3, 1, 1},
};

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

/* `direct` is for kernels that multiply integers of 16 bits, which may be twice as far off: it has
 * the results of weights rounded to bf16. NULL: for others. */
static void check_trial(struct trial *t, const struct conv_kernel *kernel, int threads,
                        struct trial *direct)
{
    const struct conv_shape *s = &t->shape;
    struct array *result = trial_result(t, kernel->direction);
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
        trial_run(t, kernel, threads);
        if (round == 0)
            memcpy(first, result->data, bytes);
    }
    ck_assert_msg(memcmp(first, result->data, bytes) == 0, "%s: does not repeat", what);
    if (direct)
        ck_assert_msg(
            array_error(result, trial_result(direct, kernel->direction), 0, result->count) <= 2,
            "%s: more than twice the error of a direct convolution", what);
    else
        check_result(result, what);
    if (with_bias)
        check_result(&t->bias, what);
    array_check_guard(&t->src, what);
    array_check_guard(&t->dst, what);
    array_check_guard(&t->weights, what);
    array_check_guard(&t->bias, what);
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

/* Winograd's kernels for values of bf16 are, and do not round weights first. */
static bool is_scaled(const struct conv_kernel *kernel, const struct conv_shape *s)
{
    return s->bf16 && strncmp(kernel->name, "winograd", 8) == 0;
}

static void check_shape(const struct conv_shape *s, enum conv_direction direction)
{
    const struct conv_kernel *kernels[CONV_MOST_ALGORITHMS];
    const int count = fitting(s, direction, kernels);
    struct trial exact = {0}, rounded = {0}; /* in their weights */
    int unrounded = 0;
    for (int i = 0; i < count; i++)
        unrounded += !s->bf16 || is_scaled(kernels[i], s);
    if (unrounded) {
        trial_make(&exact, s, false);
        trial_expect(&exact, direction);
    }
    if (s->bf16 && count) {
        trial_make(&rounded, s, true);
        trial_expect(&rounded, direction);
    }
    for (int i = 0; i < count; i++)
        for (int threads = 1; threads <= 3; threads++)
            if (is_scaled(kernels[i], s))
                check_trial(&exact, kernels[i], threads, &rounded);
            else
                check_trial(s->bf16 ? &rounded : &exact, kernels[i], threads, NULL);
    trial_free(&rounded);
    trial_free(&exact);
}

static void check_direction(enum conv_direction direction)
{
    static const int rows[] = {1, 2, 17};
    for (int block = 8; block <= 16; block += 8)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int r = 0; r < 3; r++) {
                struct conv_shape s = kind_shape(&kinds[k], block, rows[r]);
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
                struct conv_shape s = kind_shape(&kinds[k], block, 2);
                s.bias = what & 1;
                s.add = what & 2;
                s.relu = what & 4;
                check_shape(&s, CONV_FORWARD);
                s.bf16 = true;
                check_shape(&s, CONV_FORWARD);
            }
}
END_TEST

/* Results of 1 MiB and more, too large for the caches, are stored past them. */
START_TEST(large_results_are_right)
{
    for (int block = 8; block <= 16; block += 8) {
        const struct kind kind = {1, 2, 56, 57, 3, 1, 1};
        struct conv_shape s = kind_shape(&kind, block, 128 / block * 3);
        check_shape(&s, CONV_FORWARD);
        check_shape(&s, CONV_BACKWARD_DATA);
        s.rows *= 2;
        s.bf16 = true;
        check_shape(&s, CONV_FORWARD);
        check_shape(&s, CONV_BACKWARD_DATA);
    }
}
END_TEST

START_TEST(dilated_windows_are_left_to_the_library)
{
    for (int block = 8; block <= 16; block += 8)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            struct conv_shape s = kind_shape(&kinds[k], block, 2);
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
            struct conv_shape s = kind_shape(&groups[k], 16, rows[r]);
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
        struct conv_shape s = kind_shape(&strided, block, 5);
        check_shape(&s, CONV_BACKWARD_WEIGHTS);
        s = kind_shape(&plain, block, 5);
        check_shape(&s, CONV_FORWARD);
        check_shape(&s, CONV_BACKWARD_DATA);
        const struct kind more = {256 / block, 256 / block, 7, 7, 3, 1, 1};
        s = kind_shape(&more, block, 5);
        s.bf16 = true;
        check_shape(&s, CONV_FORWARD);
        check_shape(&s, CONV_BACKWARD_DATA);
        /* Several runs of tiles that integers are scaled in. */
        s = kind_shape(&plain, block, 64);
        s.bf16 = true;
        check_shape(&s, CONV_BACKWARD_WEIGHTS);
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
    tcase_add_test(kernels, dilated_windows_are_left_to_the_library);
    tcase_add_test(kernels, groups_of_rows_are_right);
    tcase_add_test(kernels, large_weights_are_right);
#if defined(__x86_64__)
    tcase_add_test(kernels, vectors_have_kernels);
#endif
    suite_add_tcase(suite, kernels);
    return run_suites(suite, NULL);
}

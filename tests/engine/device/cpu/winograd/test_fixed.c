/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "engine/device/cpu/simd/processor.h"
#include "engine/device/cpu/winograd/values.h"
#include "engine/device/cpu/winograd/weights.h"
#include "tests/engine/device/cpu/conv/conv_trial.h"
#include "tests/suites.h"

/*
 * Products of integers of 16 bits (winograd/fixed.h, weights_fixed.h) where numbers are unlike one
 * another: conv/test_kernels.c has all shapes with numbers that are alike.
 */

#if defined(__x86_64__)

/* Index 0: blocks of 8, 1: of 16; NULL: not on this processor. */
static const struct conv_kernel *kernel_of(int index, enum conv_direction direction)
{
    static const struct conv_kernel *const kernels[3][2] = {
        [CONV_FORWARD] = {&winograd_forward_8[1], &winograd_forward_16[1]},
        [CONV_BACKWARD_DATA] = {&winograd_data_8[1], &winograd_data_16[1]},
        [CONV_BACKWARD_WEIGHTS] = {&winograd_weights_8[1], &winograd_weights_16[1]}};
    if (!processor_has_dots(index ? 16 : 8))
        return NULL;
    const struct kind kind = {2, 2, 7, 7, 3, 1, 1};
    struct conv_shape shape = kind_shape(&kind, index ? 16 : 8, 2);
    ck_assert(!kernels[direction][index]->fits(&shape));
    shape.bf16 = true;
    ck_assert(kernels[direction][index]->fits(&shape));
    return kernels[direction][index];
}

static struct conv_shape shape_of(const struct kind *kind, int index, int rows)
{
    struct conv_shape shape = kind_shape(kind, index ? 16 : 8, rows);
    shape.bf16 = true;
    return shape;
}

/* The array that the direction reads as values. */
static struct array *source_of(struct trial *t, enum conv_direction direction)
{
    return direction == CONV_BACKWARD_DATA ? &t->dst : &t->src;
}

static size_t block_now; /* of the case */

typedef float change_function(float number, size_t i, const struct array *a);

/* Change what is in an array, number by number. */
static void change(struct array *a, change_function *to)
{
    for (size_t i = 0; i < a->count; i++)
        a->before[i] = to(a->before[i], i, a);
    if (a->bf16)
        for (size_t i = 0; i < a->count; i++)
            a->before[i] = bf16_widen(bf16_round(a->before[i]));
    array_reset(a);
}

#define ROWS 12

/* Rows of 1, 1/8, 1/64 and so on, and half of all numbers zero, as gradients behind a ReLU are. */
static float fading(float number, size_t i, const struct array *a)
{
    const int row = (int)(i / (a->count / ROWS));
    return i * 2654435761u >> 7 & 1 ? 0 : ldexpf(number, -3 * row);
}

/* A row's error does not depend on how large others are. */
START_TEST(small_rows_keep_their_digits)
{
    static const struct kind kind = {5, 4, 7, 7, 3, 1, 1};
    for (int d = CONV_FORWARD; d <= CONV_BACKWARD_DATA; d++) {
        const enum conv_direction direction = (enum conv_direction)d;
        const struct conv_kernel *kernel = kernel_of(_i, direction);
        if (!kernel)
            return;
        const struct conv_shape shape = shape_of(&kind, _i, ROWS);
        struct trial t, direct;
        trial_make(&t, &shape, false);
        trial_make(&direct, &shape, true);
        change(source_of(&t, direction), fading);
        change(source_of(&direct, direction), fading);
        trial_expect(&t, direction);
        trial_expect(&direct, direction);
        trial_run(&t, kernel, 2);
        const struct array *got = trial_result(&t, direction);
        const struct array *other = trial_result(&direct, direction);
        for (size_t row = 0; row < ROWS; row++)
            ck_assert_double_lt(
                array_error(got, other, got->count * row / ROWS, got->count * (row + 1) / ROWS), 2);
        trial_free(&direct);
        trial_free(&t);
    }
}
END_TEST

/* Channels of very different sizes do not spoil each other's gradients. */
static float by_channel(float number, size_t i, const struct array *a)
{
    (void)a;
    return ldexpf(number, -(int)(i % 8) * 2);
}

START_TEST(small_channels_keep_their_digits)
{
    static const struct kind kind = {2, 3, 7, 7, 3, 1, 1};
    const struct conv_kernel *kernel = kernel_of(_i, CONV_BACKWARD_WEIGHTS);
    if (!kernel)
        return;
    const struct conv_shape shape = shape_of(&kind, _i, 33);
    struct trial t;
    trial_make(&t, &shape, false);
    change(&t.src, by_channel);
    change(&t.dst, by_channel);
    trial_expect(&t, CONV_BACKWARD_WEIGHTS);
    trial_run(&t, kernel, 2);
    /* Every weight by itself, in parts of what its row and column of channels are scaled by. */
    const size_t block = (size_t)shape.in_block;
    for (size_t i = 0; i < t.weights.count; i++) {
        const int in = (int)(i / block % block % 8), out = (int)(i % block % 8);
        const double size = ldexp(sqrt(33 * 49), -2 * (in + out));
        ck_assert_double_lt(fabs((double)number_at(&t.weights, i) - t.weights.expected[i]),
                            0.01 * size);
    }
    trial_free(&t);
}
END_TEST

static float by_channel_inverse(float number, size_t i, const struct array *a)
{
    const size_t block = block_now;
    (void)a;
    return ldexpf(number, (int)(i / block % block % 8));
}

static float by_channel_a_little(float number, size_t i, const struct array *a)
{
    (void)a;
    return ldexpf(number, -(int)(i % 8));
}

/* Values of channels from 1 to 1/128 with weights that make all of them count alike: digits that a
 * scale shares are lost (a direct convolution in bf16 is off by 0.0024), but no more than these. */
START_TEST(unlike_channels_are_bounded)
{
    static const struct kind kind = {4, 4, 7, 7, 3, 1, 1};
    const struct conv_kernel *kernel = kernel_of(_i, CONV_FORWARD);
    if (!kernel)
        return;
    const struct conv_shape shape = shape_of(&kind, _i, 9);
    struct trial t;
    double off = 0, size = 0;
    block_now = (size_t)shape.in_block;
    trial_make(&t, &shape, false);
    change(&t.src, by_channel_a_little);
    change(&t.weights, by_channel_inverse);
    trial_expect(&t, CONV_FORWARD);
    trial_run(&t, kernel, 2);
    for (size_t i = 0; i < t.dst.count; i++) {
        off += pow((double)number_at(&t.dst, i) - t.dst.expected[i], 2);
        size += pow(t.dst.expected[i], 2);
    }
    ck_assert_double_lt(sqrt(off / size), 0.04);
    trial_free(&t);
}
END_TEST

/*
 * The signs of the maps of values at the points of a tile of 4: what a window of ones with these
 * signs gives is the most that there can be at a point.
 */
static const int signs[6][6] = {{1, 0, -1, 0, 1, 0},  {0, -1, -1, 1, 1, 0}, {0, 1, -1, -1, 1, 0},
                                {0, -1, -1, 1, 1, 0}, {0, 1, -1, -1, 1, 0}, {0, 1, 0, -1, 0, 1}};

static float most_at_a_point(float number, size_t i, const struct array *a)
{
    const size_t pixel = i / block_now % 36;
    const size_t point = i / (a->count / 36);
    (void)number;
    return (float)(signs[point / 6][pixel / 6] * signs[point % 6][pixel % 6]);
}

static float all_ones(float number, size_t i, const struct array *a)
{
    (void)number;
    (void)i;
    (void)a;
    return 1;
}

/* Sums as large as they get: one image for each point, whose values there are the most that they
 * can be in all channels, with weights that are all alike. */
START_TEST(largest_sums_have_room)
{
    static const struct kind kinds[] = {{4, 1, 6, 6, 3, 1, 0}, {17, 2, 6, 6, 3, 1, 0}};
    const struct conv_kernel *kernel = kernel_of(_i, CONV_FORWARD);
    if (!kernel)
        return;
    for (int k = 0; k < 2; k++) {
        const struct conv_shape shape = shape_of(&kinds[k], _i, 36);
        struct trial t;
        trial_make(&t, &shape, false);
        block_now = (size_t)shape.in_block;
        change(&t.src, most_at_a_point);
        change(&t.weights, all_ones);
        trial_expect(&t, CONV_FORWARD);
        trial_run(&t, kernel, 2);
        for (size_t i = 0; i < t.dst.count; i++)
            ck_assert_double_le(fabs((double)number_at(&t.dst, i) - t.dst.expected[i]),
                                0.01 * shape.in * 3);
        trial_free(&t);
    }
}
END_TEST

/* Sums over many tiles that are all alike, which is where both vectors have one direction. */
START_TEST(largest_sums_over_tiles_have_room)
{
    static const struct kind kind = {1, 1, 12, 12, 3, 1, 1};
    const struct conv_kernel *kernel = kernel_of(_i, CONV_BACKWARD_WEIGHTS);
    if (!kernel)
        return;
    const struct conv_shape shape = shape_of(&kind, _i, 64);
    struct trial t;
    trial_make(&t, &shape, false);
    change(&t.src, all_ones);
    change(&t.dst, all_ones);
    trial_expect(&t, CONV_BACKWARD_WEIGHTS);
    trial_run(&t, kernel, 1);
    for (size_t i = 0; i < t.weights.count; i++)
        ck_assert_double_le(fabs((double)number_at(&t.weights, i) / t.weights.expected[i] - 1),
                            2e-3);
    trial_free(&t);
}
END_TEST

static float zero(float number, size_t i, const struct array *a)
{
    (void)number;
    (void)i;
    (void)a;
    return 0;
}

static float tiny(float number, size_t i, const struct array *a)
{
    (void)i;
    (void)a;
    return number * 1e-38F;
}

static float one_infinity(float number, size_t i, const struct array *a)
{
    return i == a->count / 2 + 3 ? INFINITY : number;
}

static float one_nan(float number, size_t i, const struct array *a)
{
    return i == a->count / 2 + 3 ? NAN : number;
}

static float one_huge(float number, size_t i, const struct array *a)
{
    return i == a->count / 2 + 3 ? 2e38F : number;
}

#define FEW_ROWS 4

/* Run the direction with its values, or the weights, changed, and check the results. */
static void check_changed(int index, enum conv_direction direction, bool relu, bool weights,
                          change_function *to,
                          void (*check)(const struct array *got, enum conv_direction direction))
{
    static const struct kind kind = {2, 2, 7, 7, 3, 1, 1};
    const struct conv_kernel *kernel = kernel_of(index, direction);
    if (!kernel)
        return;
    struct conv_shape shape = shape_of(&kind, index, FEW_ROWS);
    struct trial t;
    shape.relu = relu;
    trial_make(&t, &shape, false);
    change(weights ? &t.weights : source_of(&t, direction), to);
    trial_expect(&t, direction);
    trial_run(&t, kernel, 2);
    check(trial_result(&t, direction), direction);
    trial_free(&t);
}

static void is_nothing(const struct array *got, enum conv_direction direction)
{
    (void)direction;
    for (size_t i = 0; i < got->count; i++)
        ck_assert_float_le(fabsf(number_at(got, i)), 1e-30F);
}

START_TEST(nothing_stays_nothing)
{
    for (int d = CONV_FORWARD; d <= CONV_BACKWARD_WEIGHTS; d++) {
        check_changed(_i, (enum conv_direction)d, false, false, zero, is_nothing);
        check_changed(_i, (enum conv_direction)d, false, false, tiny, is_nothing);
    }
}
END_TEST

static void is_not_finite_where_huge(const struct array *got, enum conv_direction direction)
{
    (void)direction;
    for (size_t i = 0; i < got->count; i++)
        if (fabs(got->expected[i]) > 1e30)
            ck_assert(!isfinite(number_at(got, i)));
}

/* What could leave f32 within a kernel is not finite, also behind a ReLU, where direct it might be.
 */
START_TEST(huge_numbers_are_no_others)
{
    for (int relu = 0; relu < 2; relu++)
        check_changed(_i, CONV_FORWARD, relu, false, one_huge, is_not_finite_where_huge);
}
END_TEST

static void shows_what_is_not_finite(const struct array *got, enum conv_direction direction)
{
    (void)direction;
    for (size_t i = 0; i < got->count; i++)
        ck_assert(isfinite(got->expected[i]) || !isfinite(number_at(got, i)));
}

/* And not in other rows. */
static void shows_it_in_its_row(const struct array *got, enum conv_direction direction)
{
    shows_what_is_not_finite(got, direction);
    for (size_t i = 0; i < got->count; i++)
        if (direction != CONV_BACKWARD_WEIGHTS && i / (got->count / FEW_ROWS) != FEW_ROWS / 2)
            ck_assert(isfinite(number_at(got, i)));
}

START_TEST(infinities_are_seen)
{
    for (int d = CONV_FORWARD; d <= CONV_BACKWARD_WEIGHTS; d++) {
        check_changed(_i, (enum conv_direction)d, false, false, one_infinity, shows_it_in_its_row);
        check_changed(_i, (enum conv_direction)d, false, false, one_nan, shows_it_in_its_row);
    }
}
END_TEST

START_TEST(infinite_weights_are_seen)
{
    for (int d = CONV_FORWARD; d <= CONV_BACKWARD_DATA; d++) {
        check_changed(_i, (enum conv_direction)d, false, true, one_infinity,
                      shows_what_is_not_finite);
        check_changed(_i, (enum conv_direction)d, false, true, one_nan, shows_what_is_not_finite);
    }
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("winograd with integers");
#if defined(__x86_64__)
    TCase *tc = tcase_create("fixed");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, small_rows_keep_their_digits, 0, 2);
    tcase_add_loop_test(tc, small_channels_keep_their_digits, 0, 2);
    tcase_add_loop_test(tc, unlike_channels_are_bounded, 0, 2);
    tcase_add_loop_test(tc, huge_numbers_are_no_others, 0, 2);
    tcase_add_loop_test(tc, largest_sums_have_room, 0, 2);
    tcase_add_loop_test(tc, largest_sums_over_tiles_have_room, 0, 2);
    tcase_add_loop_test(tc, nothing_stays_nothing, 0, 2);
    tcase_add_loop_test(tc, infinities_are_seen, 0, 2);
    tcase_add_loop_test(tc, infinite_weights_are_seen, 0, 2);
    suite_add_tcase(suite, tc);
#endif
    return run_suites(suite, NULL);
}

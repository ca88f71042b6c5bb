/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/device/bf16.h"
#include "engine/device/cuda/kernels/activation_math.h"
#include "engine/device/cuda/kernels/dropout_math.h"
#include "engine/device/cuda/kernels/input_math.h"
#include "engine/device/cuda/kernels/norm_math.h"
#include "engine/device/cuda/kernels/window_math.h"
#include "tests/suites.h"

/* The arithmetic of the CUDA kernels, compiled as C: against the engine's random numbers, and
 * against plain definitions in f64. */

static const uint64_t seed = UINT64_C(0x299f31d0a4093822);
static const uint32_t key[2] = {0xa4093822, 0x299f31d0};

static struct rng_stream numbers_of(uint32_t a)
{
    return rng_stream(7, RNG_RANDOM_DATA, 0, a, 0);
}

START_TEST(philox_gives_the_words_of_the_engine)
{
    for (uint32_t i = 0; i < 200; i++) {
        const uint32_t block = i * 2654435761u, a = i << 13, b = ~i,
                       index = i * 8191 % RNG_INDEX_LIMIT;
        const struct rng_stream stream = rng_stream(seed, RNG_DROPOUT, index, a, b);
        uint32_t expected[4], words[4];
        rng_block(&stream, block, expected);
        philox_block(key, block, a, b, RNG_DROPOUT, index, words);
        ck_assert_mem_eq(words, expected, sizeof words);
    }
}
END_TEST

static void check_dropout(uint32_t pixels, int run, uint32_t channels)
{
    const struct dropout_row row = {{key[0], key[1]}, 59999, 3, 12, rng_threshold(0.3)};
    const struct rng_stream stream = rng_stream(seed, RNG_DROPOUT, 12, 59999, 3);
    for (uint32_t channel = 0; channel < 24; channel += channels) {
        for (uint32_t pixel = 0; pixel < pixels; pixel += (uint32_t)run) {
            const uint32_t kept = dropout_kept(&row, channel, (int)channels, pixels, pixel, run);
            for (uint32_t bit = 0; bit < 8u * (uint32_t)run; bit++) {
                const uint32_t element = (channel + bit % 8) * pixels + pixel + bit / 8;
                if (bit % 8 >= channels)
                    continue;
                ck_assert_int_eq(kept >> bit & 1, rng_word(&stream, element) >= row.threshold);
            }
        }
    }
}

START_TEST(dropout_keeps_what_the_engine_keeps)
{
    for (uint32_t channels = 4; channels <= 8; channels += 4) {
        check_dropout(1, 1, channels);
        check_dropout(3, 1, channels);
        check_dropout(49, 1, channels);
        check_dropout(4, 4, channels);
        check_dropout(36, 4, channels);
    }
}
END_TEST

START_TEST(pictures_change_as_augmentation_is_defined)
{
    int flips = 0, moved[9] = {0};
    for (uint32_t row = 0; row < 500; row++) {
        const struct rng_stream stream = rng_stream(seed, RNG_AUGMENT, 0, row, 5);
        const int flip = rng_word(&stream, 0) >> 31, down = (int)(rng_word(&stream, 1) % 9) - 4;
        const int right = (int)(rng_word(&stream, 2) % 9) - 4;
        const struct augment_change both =
            picture_change_of(key, 5, row, AUGMENT_FLIP | AUGMENT_CROP);
        const struct augment_change flipped = picture_change_of(key, 5, row, AUGMENT_FLIP);
        const struct augment_change moves = picture_change_of(key, 5, row, AUGMENT_CROP);
        const struct augment_change none = picture_change_of(key, 5, row, 0);
        ck_assert(both.flip == flip && both.down == down && both.right == right);
        ck_assert(flipped.flip == flip && flipped.down == 0 && flipped.right == 0);
        ck_assert(moves.flip == 0 && moves.down == down && moves.right == right);
        ck_assert(none.flip == 0 && none.down == 0 && none.right == 0);
        flips += flip;
        moved[down + 4]++;
    }
    ck_assert(flips > 200 && flips < 300);
    for (int k = 0; k < 9; k++)
        ck_assert_int_gt(moved[k], 25);
}
END_TEST

/* Mirror a picture, then move it, by copying. */
START_TEST(sources_are_those_of_a_mirrored_and_moved_picture)
{
    enum { H = 5, W = 7 };
    for (int flip = 0; flip < 2; flip++) {
        for (int down = -4; down <= 4; down++) {
            for (int right = -4; right <= 4; right++) {
                const struct augment_change change = {flip, down, right};
                int expected[H][W];
                memset(expected, -1, sizeof expected);
                for (int y = 0; y < H; y++)
                    for (int x = 0; x < W; x++)
                        if (y + down >= 0 && y + down < H && x + right >= 0 && x + right < W)
                            expected[y + down][x + right] = y * W + (flip ? W - 1 - x : x);
                for (int y = 0; y < H; y++)
                    for (int x = 0; x < W; x++)
                        ck_assert_int_eq(augment_source(change, y, x, H, W), expected[y][x]);
            }
        }
    }
}
END_TEST

START_TEST(taps_are_in_the_order_of_place_and_channel)
{
    const int kernel_h = 3, kernel_w = 5, channels = 3;
    struct tap step = tap_of(0, kernel_w, channels);
    int tap = 0;
    for (int ky = 0; ky < kernel_h; ky++) {
        for (int kx = 0; kx < kernel_w; kx++) {
            for (int c = 0; c < channels; c++, tap++) {
                const struct tap t = tap_of(tap, kernel_w, channels);
                ck_assert(t.ky == ky && t.kx == kx && t.channel == c);
                ck_assert(step.ky == ky && step.kx == kx && step.channel == c);
                step = tap_next(step, kernel_w, channels);
            }
        }
    }
}
END_TEST

static void check_windows(int kernel, int stride, int pad, int size)
{
    const int outputs = (size + 2 * pad - kernel) / stride + 1;
    for (int o = 0; o < outputs; o++) {
        const struct span inputs = window_inputs(o, kernel, stride, pad, size);
        for (int i = 0; i < size; i++) {
            const int tap = i - (o * stride - pad), covered = tap >= 0 && tap < kernel;
            const struct span back = window_outputs(i, kernel, stride, pad, outputs);
            ck_assert_int_eq(i >= inputs.first && i < inputs.end, covered);
            ck_assert_int_eq(o >= back.first && o < back.end, covered);
        }
    }
}

START_TEST(windows_and_their_inverse_agree)
{
    for (int kernel = 1; kernel <= 5; kernel++)
        for (int stride = 1; stride <= 6; stride++)
            for (int pad = 0; pad <= kernel / 2; pad++)
                for (int size = kernel; size < 12; size++)
                    check_windows(kernel, stride, pad, size);
}
END_TEST

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

START_TEST(bf16_rounds_to_the_nearest_even)
{
    const struct rng_stream stream = numbers_of(0);
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t word = rng_word(&stream, i), low = word & 0xffff0000u, high = low + 0x10000u;
        const float x = float_of(word), below = float_of(low), above = float_of(high);
        if (!isfinite(x) || !isfinite(above))
            continue;
        const double down = fabs((double)x - (double)below), up = fabs((double)above - (double)x);
        if (down != up)
            ck_assert_uint_eq(bf16_round(x), (down < up ? low : high) >> 16);
    }
    ck_assert_uint_eq(bf16_round(float_of(0x3f808000)), 0x3f80); /* half way: to even */
    ck_assert_uint_eq(bf16_round(float_of(0x3f818000)), 0x3f82);
    ck_assert_uint_eq(bf16_round(float_of(0x7f7fffff)), 0x7f80); /* too large: infinite */
    ck_assert_uint_eq(bf16_round(-INFINITY), 0xff80);
    ck_assert_uint_eq(bf16_round(NAN), 0x7fff);
    ck_assert_uint_eq(bf16_round(float_of(0xff800001)), 0x7fff);
    for (uint32_t bits = 0; bits < 0x7f80; bits++)
        ck_assert_uint_eq(bf16_round(bf16_widen((uint16_t)bits)), bits);
}
END_TEST

/* BatchNorm of n numbers about `level`, in two passes. */
struct plain_norm {
    int n;
    double x[64], g[64], mean, variance;
};

static struct plain_norm plain_norm(double level)
{
    const struct rng_stream stream = numbers_of(2);
    struct plain_norm p = {.n = 64};
    for (int i = 0; i < p.n; i++) {
        p.x[i] = level + rng_normal(&stream, (uint64_t)i);
        p.g[i] = 3 + rng_normal(&stream, 100 + (uint64_t)i);
        p.mean += p.x[i] / p.n;
    }
    for (int i = 0; i < p.n; i++)
        p.variance += (p.x[i] - p.mean) * (p.x[i] - p.mean) / p.n;
    return p;
}

START_TEST(statistics_do_not_depend_on_the_origin)
{
    const struct plain_norm p = plain_norm(1000);
    for (int k = 0; k < 3; k++) {
        const double origin = (double[]){0, p.x[0], 1000}[k];
        struct norm_moments m = {0, 0};
        for (int i = 0; i < p.n; i++) {
            m.sum += p.x[i] - origin;
            m.product += (p.x[i] - origin) * (p.x[i] - origin);
        }
        const struct norm_statistics s = norm_statistics_of(norm_move_squares(m, origin, p.n), p.n);
        ck_assert_double_eq_tol(s.mean, p.mean, 1e-9);
        ck_assert_double_eq_tol(s.variance, p.variance, 1e-8);
    }
    const struct norm_statistics never_negative =
        norm_statistics_of((struct norm_moments){10, 9.999999}, 10);
    ck_assert_double_eq(never_negative.variance, 0);
}
END_TEST

START_TEST(affine_and_running_statistics_are_batchnorms)
{
    const struct plain_norm p = plain_norm(5);
    const double istd = norm_istd(p.variance, 1e-5);
    const struct norm_affine a = norm_affine_of(p.mean, istd, 1.5f, -0.25f, 0.125f);
    for (int i = 0; i < p.n; i++) {
        const double y = (p.x[i] - p.mean) / sqrt(p.variance + 1e-5) * 1.5 - 0.25 + 0.125;
        ck_assert_double_eq_tol(p.x[i] * (double)a.scale + (double)a.shift, y, 1e-5);
    }
    ck_assert_double_eq_tol((double)norm_running(2, 7, 0.1), 2.5, 1e-6);
}
END_TEST

/* dx against the change of sum(g * y) as one x changes, y in f64. */
static double normed_sum(const struct plain_norm *p)
{
    double mean = 0, variance = 0, sum = 0;
    for (int i = 0; i < p->n; i++)
        mean += p->x[i] / p->n;
    for (int i = 0; i < p->n; i++)
        variance += (p->x[i] - mean) * (p->x[i] - mean) / p->n;
    for (int i = 0; i < p->n; i++)
        sum += p->g[i] * 1.5 * (p->x[i] - mean) / sqrt(variance + 1e-5);
    return sum;
}

START_TEST(slopes_are_the_derivative)
{
    struct plain_norm p = plain_norm(20);
    const double istd = norm_istd(p.variance, 1e-5), origin = p.x[0];
    struct norm_moments m = {0, 0};
    for (int i = 0; i < p.n; i++) {
        m.sum += p.g[i];
        m.product += p.g[i] * (p.x[i] - origin);
    }
    m = norm_move_products(m, origin);
    const struct norm_slopes k = norm_slopes_of(m, p.n, p.mean, istd, 1.5 * istd);
    for (int i = 0; i < p.n; i++) {
        const double dx = (double)k.a * p.g[i] + ((double)k.b * p.x[i] + (double)k.c);
        const double x = p.x[i], h = 1e-5;
        p.x[i] = x + h;
        double slope = normed_sum(&p);
        p.x[i] = x - h;
        slope = (slope - normed_sum(&p)) / (2 * h);
        p.x[i] = x;
        ck_assert_double_eq_tol(dx, slope, 2e-6);
    }
}
END_TEST

START_TEST(derivatives_are_those_of_the_functions)
{
    for (double x = -6; x < 6; x += 0.37) {
        const double y = 1 / (1 + exp(-x)), t = tanh(x);
        ck_assert_double_eq_tol((double)sigmoid((float)x), y, 1e-6);
        ck_assert_double_eq_tol((double)sigmoid_backward((float)y, 3), 3 * y * (1 - y), 1e-6);
        ck_assert_double_eq_tol((double)tanh_backward((float)t, 3), 3 * (1 - t * t), 2e-6);
        ck_assert_double_eq((double)relu((float)x), x > 0 ? (double)(float)x : 0);
        ck_assert_double_eq((double)relu_backward(relu((float)x), 3), x > 0 ? 3 : 0);
    }
    ck_assert_double_eq((double)sigmoid(-200), 0);
    ck_assert_double_eq((double)sigmoid(200), 1);
    ck_assert(isnan(relu(NAN)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda math");
    TCase *tests = tcase_create("cuda math");
    tcase_add_test(tests, philox_gives_the_words_of_the_engine);
    tcase_add_test(tests, dropout_keeps_what_the_engine_keeps);
    tcase_add_test(tests, pictures_change_as_augmentation_is_defined);
    tcase_add_test(tests, sources_are_those_of_a_mirrored_and_moved_picture);
    tcase_add_test(tests, taps_are_in_the_order_of_place_and_channel);
    tcase_add_test(tests, windows_and_their_inverse_agree);
    tcase_add_test(tests, bf16_rounds_to_the_nearest_even);
    tcase_add_test(tests, statistics_do_not_depend_on_the_origin);
    tcase_add_test(tests, affine_and_running_statistics_are_batchnorms);
    tcase_add_test(tests, slopes_are_the_derivative);
    tcase_add_test(tests, derivatives_are_those_of_the_functions);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

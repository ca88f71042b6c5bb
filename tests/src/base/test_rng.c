/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/suites.h"

/* Known answers: kat_vectors of Random123, the paper's reference implementation. */
static const struct {
    uint32_t counter[4], key[2], expected[4];
} known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

START_TEST(philox_gives_the_known_answers)
{
    uint32_t out[4];
    rng_philox(known_answers[_i].counter, known_answers[_i].key, out);
    ck_assert_mem_eq(out, known_answers[_i].expected, sizeof out);
}
END_TEST

START_TEST(stream_fills_counter_and_key_as_documented)
{
    struct rng_stream stream =
        rng_stream(UINT64_C(0x299f31d0a4093822), RNG_GLYPHS, 0x707344, 0x85a308d3, 0x13198a2e);
    const uint32_t counter[4] = {7, 0x85a308d3, 0x13198a2e, 4u << 24 | 0x707344};
    uint32_t expected[4], got[4];
    rng_philox(counter, known_answers[2].key, expected);
    rng_block(&stream, 7, got);
    ck_assert_mem_eq(got, expected, sizeof got);
    for (uint64_t e = 0; e < 4; e++)
        ck_assert_uint_eq(rng_word(&stream, 28 + e), expected[e]);
}
END_TEST

START_TEST(streams_differ_in_every_part_of_their_name)
{
    const struct rng_stream streams[] = {
        rng_stream(1, RNG_INIT, 0, 0, 0),
        rng_stream(2, RNG_INIT, 0, 0, 0),
        rng_stream(UINT64_C(1) << 32 | 1, RNG_INIT, 0, 0, 0),
        rng_stream(1, RNG_DROPOUT, 0, 0, 0),
        rng_stream(1, RNG_INIT, 1, 0, 0),
        rng_stream(1, RNG_INIT, 0, 1, 0),
        rng_stream(1, RNG_INIT, 0, 0, 1),
    };
    const int count = sizeof streams / sizeof streams[0];
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            uint32_t a[4], b[4];
            rng_block(&streams[i], 0, a);
            rng_block(&streams[j], 0, b);
            ck_assert_mem_ne(a, b, sizeof a);
        }
    }
}
END_TEST

/* Means over 100,000 numbers lie within five standard errors of what theory gives. */
START_TEST(uniform_and_normal_have_their_moments)
{
    enum { COUNT = 100000 };
    struct rng_stream stream = rng_stream(1, RNG_RANDOM_DATA, 0, 0, 0);
    double sum = 0, square = 0, normal = 0, normal2 = 0, normal4 = 0, product = 0, last = 0;
    for (uint64_t e = 0; e < COUNT; e++) {
        double u = rng_uniform(&stream, e);
        ck_assert(u > 0 && u < 1);
        sum += u;
        square += u * u;
        double z = rng_normal(&stream, e);
        ck_assert(isfinite(z));
        normal += z;
        normal2 += z * z;
        normal4 += z * z * z * z;
        product += z * last;
        last = z;
    }
    double n = COUNT, error = 5 / sqrt(n);
    ck_assert_double_eq_tol(sum / n, 1.0 / 2, error * sqrt(1.0 / 12));
    ck_assert_double_eq_tol(square / n, 1.0 / 3, error * sqrt(4.0 / 45));
    ck_assert_double_eq_tol(normal / n, 0, error);
    ck_assert_double_eq_tol(normal2 / n, 1, error * sqrt(2));
    ck_assert_double_eq_tol(normal4 / n, 3, error * sqrt(96));
    ck_assert_double_eq_tol(product / n, 0, error);
}
END_TEST

START_TEST(normal_is_box_muller_of_its_pair)
{
    struct rng_stream stream = rng_stream(9, RNG_INIT, 3, 0, 0);
    for (uint64_t e = 0; e < 64; e += 2) {
        double radius = sqrt(-2 * log(rng_uniform(&stream, e)));
        double angle = 2 * acos(-1.0) * rng_uniform(&stream, e + 1);
        ck_assert_double_eq_tol(rng_normal(&stream, e), radius * cos(angle), 1e-12);
        ck_assert_double_eq_tol(rng_normal(&stream, e + 1), radius * sin(angle), 1e-12);
    }
}
END_TEST

START_TEST(threshold_is_the_probability)
{
    ck_assert_uint_eq(rng_threshold(0), 0);
    ck_assert_uint_eq(rng_threshold(0.5), UINT32_C(0x80000000));
    ck_assert_uint_eq(rng_threshold(1 - 0x1p-53), UINT32_C(0xffffffff));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rng");
    TCase *tests = tcase_create("rng");
    tcase_add_loop_test(tests, philox_gives_the_known_answers, 0,
                        sizeof known_answers / sizeof known_answers[0]);
    tcase_add_test(tests, stream_fills_counter_and_key_as_documented);
    tcase_add_test(tests, streams_differ_in_every_part_of_their_name);
    tcase_add_test(tests, uniform_and_normal_have_their_moments);
    tcase_add_test(tests, normal_is_box_muller_of_its_pair);
    tcase_add_test(tests, threshold_is_the_probability);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

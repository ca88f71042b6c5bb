/* SPDX-License-Identifier: MIT */
/* Learning-rate range tests: smoothing, divergence and the rate that is suggested. */
#include <check.h>
#include <math.h>

#include "experiment/range.h"
#include "tests/src/experiment/study_fixture.h"

static struct range range;
static struct error err;

static void setup(void)
{
    range = (struct range){0};
    err = (struct error)ERROR_INIT;
}

static void teardown(void)
{
    range_free(&range);
}

/* Step i of `steps` from 1e-4 to 1. */
static double rate(int i, int steps)
{
    return pow(10, -4 + 4.0 * i / (steps - 1));
}

/* With weights 0.9^k of the losses k steps back, which are divided by their sum. */
START_TEST(losses_are_smoothed_without_bias)
{
    static const double losses[] = {2.3, 2.5, 1.9, 2.2, 0.7, 3};
    for (int i = 0; i < 6; i++) {
        double sum = 0, weights = 0, weight = 1;
        ck_assert(range_add(&range, rate(i, 6), losses[i], &err));
        for (int back = 0; back <= i; back++, weight *= 0.9) {
            sum += weight * losses[i - back];
            weights += weight;
        }
        ck_assert_double_eq_tol(range.points[i].smoothed, sum / weights, 1e-12);
        ck_assert_double_eq(range.points[i].loss, losses[i]);
    }
    ck_assert_int_eq(range.count, 6);
    ck_assert(!range.diverged);
}
END_TEST

/* A loss that falls by a logistic curve around log10 lr = -2.5, and rises above 0.1. */
START_TEST(the_steepest_descent_is_suggested)
{
    enum { STEPS = 400 };
    for (int i = 0; i < STEPS; i++) {
        double x = log10(rate(i, STEPS));
        double loss = 0.5 + 2 / (1 + exp(4 * (x + 2.5))) + (x > -1 ? x + 1 : 0);
        ck_assert(range_add(&range, rate(i, STEPS), loss, &err));
    }
    ck_assert(!range.diverged);
    /* The mean lags behind by nine steps of 0.01 decades. */
    ck_assert_double_eq_tol(log10(range_steepest(&range)), -2.41, 0.05);
    ck_assert_double_eq_tol(log10(range_lowest(&range)), -0.95, 0.1);
}
END_TEST

START_TEST(a_loss_that_hardly_falls_suggests_nothing)
{
    ck_assert_double_nan(range_steepest(&range));
    ck_assert_double_nan(range_lowest(&range));
    for (int i = 0; i < 100; i++) {
        ck_assert(range_add(&range, rate(i, 100), 2.3 + 0.01 * sin(i), &err));
        ck_assert_double_nan(range_steepest(&range));
    }
}
END_TEST

/* What comes back from a rise is no descent. */
START_TEST(a_fall_after_a_rise_is_passed_over)
{
    for (int i = 0; i < 200; i++) {
        double loss = i < 100 ? 2.3 - 0.01 * i : i < 150 ? 4 : 2.5;
        ck_assert(range_add(&range, rate(i, 200), loss, &err));
    }
    ck_assert(range_steepest(&range) <= rate(100, 200));
}
END_TEST

START_TEST(four_times_the_least_loss_is_divergence)
{
    for (int i = 0; i < 50; i++)
        ck_assert(range_add(&range, rate(i, 100), 1, &err));
    /* The mean of n further losses of 5 is 5 - 4 * 0.9^n: 4 is passed after 14. */
    for (int i = 1; i < 20 && !range.diverged; i++) {
        ck_assert(range_add(&range, rate(50 + i, 100), 5, &err));
        ck_assert_int_eq(range.diverged, range.points[range.count - 1].smoothed > 4);
    }
    ck_assert(range.diverged);
    int count = range.count;
    ck_assert_int_eq(count, 64);
    ck_assert(range_add(&range, 1, 1, &err));
    ck_assert_int_eq(range.count, count);
}
END_TEST

START_TEST(a_loss_without_a_value_is_divergence)
{
    ck_assert(range_add(&range, 0.1, 1, &err));
    ck_assert(range_add(&range, 0.2, NAN, &err));
    ck_assert(range.diverged);
    ck_assert_int_eq(range.count, 1);
}
END_TEST

Suite *range_suite(void)
{
    const TTest *const tests[] = {
        losses_are_smoothed_without_bias,          the_steepest_descent_is_suggested,
        a_loss_that_hardly_falls_suggests_nothing, a_fall_after_a_rise_is_passed_over,
        four_times_the_least_loss_is_divergence,   a_loss_without_a_value_is_divergence,
    };
    Suite *suite = suite_create("range");
    TCase *cases = tcase_create("range");
    tcase_add_checked_fixture(cases, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite;
}

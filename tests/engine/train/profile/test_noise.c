/* SPDX-License-Identifier: MIT */
/* The estimates of the gradient noise scale, on gradients whose mean and covariance are known. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "engine/train/profile/noise.h"
#include "tests/suites.h"

enum { NUMBERS = 24, MOST_SHARDS = 5 };

/* Of a row: G[j] plus noise of standard deviation deviation[j], uncorrelated. */
static void mean_and_deviation(double *mean, double *deviation)
{
    for (int j = 0; j < NUMBERS; j++) {
        mean[j] = 0.3 * cos(j);
        deviation[j] = 0.2 + 0.1 * j;
    }
}

static double squares(const double *numbers)
{
    double sum = 0;
    for (int j = 0; j < NUMBERS; j++)
        sum += numbers[j] * numbers[j];
    return sum;
}

/* A step on drawn rows, of which shard i has rows[i]; *at counts draws. */
static bool draw_step(const long *rows, int count, const struct rng_stream *stream, uint64_t *at,
                      struct noise_estimate *out)
{
    double mean[NUMBERS], deviation[NUMBERS], all[NUMBERS] = {0}, total = 0;
    struct noise_shard shards[MOST_SHARDS];
    mean_and_deviation(mean, deviation);
    for (int i = 0; i < count; i++)
        total += (double)rows[i];
    for (int i = 0; i < count; i++) {
        double sum[NUMBERS] = {0};
        for (long row = 0; row < rows[i]; row++)
            for (int j = 0; j < NUMBERS; j++)
                sum[j] += (mean[j] + deviation[j] * rng_normal(stream, (*at)++)) / total;
        shards[i] = (struct noise_shard){rows[i], squares(sum)};
        for (int j = 0; j < NUMBERS; j++)
            all[j] += sum[j];
    }
    return noise_estimate(shards, count, squares(all), out);
}

static const struct {
    int count;
    long rows[MOST_SHARDS];
} splits[] = {{2, {8, 8}}, {2, {1, 9}}, {3, {5, 0, 3}}, {5, {1, 2, 3, 4, 5}}, {4, {7, 7, 7, 1}}};

/* The mean of many estimates is what they estimate, whatever the split. */
START_TEST(estimates_are_unbiased)
{
    enum { STEPS = 20000 };
    const struct rng_stream stream = rng_stream((uint64_t)_i + 1, RNG_INIT, 0, 0, 0);
    struct noise_estimate sum = {0, 0}, estimate;
    double mean[NUMBERS], deviation[NUMBERS];
    uint64_t at = 0;
    for (int step = 0; step < STEPS; step++) {
        ck_assert(draw_step(splits[_i].rows, splits[_i].count, &stream, &at, &estimate));
        sum.signal += estimate.signal / STEPS;
        sum.variance += estimate.variance / STEPS;
    }
    mean_and_deviation(mean, deviation);
    ck_assert_double_eq_tol(sum.variance / squares(deviation), 1, 0.02);
    ck_assert_double_eq_tol(sum.signal / squares(mean), 1, 0.1);
}
END_TEST

/* Two rows on a line, 1 and 3: mean 2, variance 2, so |G|^2 is 4 - 2 / 2. */
START_TEST(two_rows_by_hand)
{
    const struct noise_shard shards[] = {{1, 0.25}, {1, 2.25}};
    struct noise_estimate estimate;
    ck_assert(noise_estimate(shards, 2, 4, &estimate));
    ck_assert_double_eq_tol(estimate.variance, 2, 1e-12);
    ck_assert_double_eq_tol(estimate.signal, 3, 1e-12);
}
END_TEST

START_TEST(one_shard_tells_nothing)
{
    const struct noise_shard alone[] = {{8, 1}}, idle[] = {{0, 0}, {8, 1}, {0, 0}},
                             broken[] = {{4, NAN}, {4, 1}}, infinite[] = {{4, INFINITY}, {4, 1}};
    struct noise_estimate estimate;
    ck_assert(!noise_estimate(alone, 1, 1, &estimate));
    ck_assert(!noise_estimate(idle, 3, 1, &estimate));
    ck_assert(!noise_estimate(broken, 2, 1, &estimate));
    ck_assert(!noise_estimate(infinite, 2, INFINITY, &estimate));
}
END_TEST

/* Single estimates are far too noisy to look at; their smoothed ratio comes near, and follows. */
START_TEST(the_scale_is_smoothed)
{
    const struct rng_stream stream = rng_stream(11, RNG_INIT, 0, 0, 0);
    struct noise_estimate smoothed = {0, 0}, estimate;
    double mean[NUMBERS], deviation[NUMBERS];
    uint64_t at = 0;
    const long rows[] = {40, 40};
    ck_assert(isnan(noise_rows(&smoothed)));
    mean_and_deviation(mean, deviation);
    for (int step = 0; step < 400; step++) {
        ck_assert(draw_step(rows, 2, &stream, &at, &estimate));
        noise_add(&smoothed, &estimate, 1);
    }
    ck_assert_double_eq_tol(noise_rows(&smoothed) / (squares(deviation) / squares(mean)), 1, 0.2);
    for (int step = 0; step < 400; step++)
        noise_add(&smoothed, &(struct noise_estimate){.signal = 2, .variance = 100}, 1);
    ck_assert_double_eq_tol(noise_rows(&smoothed), 50, 5);
    /* A step of few rows counts for few. */
    noise_add(&smoothed, &(struct noise_estimate){.signal = 1000, .variance = 100}, 1.0 / 128);
    ck_assert_double_eq_tol(noise_rows(&smoothed), 50, 6);
    for (int step = 0; step < 400; step++)
        noise_add(&smoothed, &(struct noise_estimate){.signal = -1, .variance = 100}, 1);
    ck_assert(isnan(noise_rows(&smoothed)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise");
    TCase *tcase = tcase_create("noise");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, estimates_are_unbiased, 0, (int)(sizeof splits / sizeof *splits));
    tcase_add_test(tcase, two_rows_by_hand);
    tcase_add_test(tcase, one_shard_tells_nothing);
    tcase_add_test(tcase, the_scale_is_smoothed);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}

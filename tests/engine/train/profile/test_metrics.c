/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "engine/train/profile/metrics.h"
#include "tests/suites.h"

/* How fast a run is, from the times of its epochs. */

enum { ROWS = 60 };

static void end_epoch(struct metrics *metrics, double seconds)
{
    struct error err = ERROR_INIT;
    metrics_begin_epoch(metrics, 1);
    metrics_end_epoch(metrics, seconds);
    ck_assert(metrics_count_epoch(metrics, &err));
}

static void expect(const struct metrics *metrics, double s_per_epoch, double samples_per_s)
{
    struct run_speed speed = metrics_speed(metrics, ROWS);
    ck_assert_double_eq_tol(speed.s_per_epoch, s_per_epoch, 1e-12);
    ck_assert_double_eq_tol(speed.samples_per_s, samples_per_s, 1e-12);
}

START_TEST(the_median_is_without_the_first)
{
    static const struct {
        double seconds, s_per_epoch, samples_per_s;
    } epochs[] = {{2, 2, 30}, {6, 6, 10}, {3, 4.5, 15}, {1, 3, 20}, {5, 4, 16}, {3, 3, 20}};
    struct metrics metrics;
    metrics_begin(&metrics);
    ck_assert(isnan(metrics_speed(&metrics, ROWS).s_per_epoch));
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        end_epoch(&metrics, epochs[i].seconds);
        expect(&metrics, epochs[i].s_per_epoch, epochs[i].samples_per_s);
    }
    metrics_free(&metrics);
}
END_TEST

static void resume(struct metrics *metrics, const struct metrics_sums *all,
                   const struct metrics_sums *before, const double *times, int known)
{
    struct error err = ERROR_INIT;
    metrics_begin(metrics);
    ck_assert(metrics_resume(metrics, all, before, times, known, &err));
}

START_TEST(resumes_change_no_median)
{
    static const double epochs[] = {9, 6, 3, 1, 5, 3, 2, 8};
    enum { COUNT = sizeof epochs / sizeof *epochs };
    const struct metrics_sums none = {0};
    struct metrics whole, parts;
    double times[COUNT];
    metrics_begin(&whole);
    metrics_begin(&parts);
    for (int i = 0; i < COUNT; i++) {
        const struct metrics_sums all = {.epochs = i + 1};
        end_epoch(&whole, epochs[i]);
        end_epoch(&parts, epochs[i]);
        const int known = metrics_times(&parts, times, COUNT);
        ck_assert_int_eq(known, i + 1);
        metrics_free(&parts);
        resume(&parts, &all, &none, times, known);
        const struct run_speed speed = metrics_speed(&whole, ROWS);
        expect(&parts, speed.s_per_epoch, speed.samples_per_s);
    }
    metrics_free(&whole);
    metrics_free(&parts);
}
END_TEST

/* Of a thousand epochs eleven times are kept. */
START_TEST(many_epochs_keep_their_median)
{
    enum { EPOCHS = 1001, KEPT = 11 };
    const struct metrics_sums all = {.epochs = EPOCHS}, none = {0};
    struct metrics metrics;
    double times[KEPT];
    metrics_begin(&metrics);
    end_epoch(&metrics, 5000);
    for (int i = 1; i < EPOCHS; i++)
        end_epoch(&metrics, 1 + i * 7 % 1000);
    ck_assert_double_eq_tol(metrics_speed(&metrics, ROWS).s_per_epoch, 500.5, 1e-9);
    ck_assert_int_eq(metrics_times(&metrics, times, KEPT), KEPT);
    ck_assert_double_eq_tol(times[0], 5000, 1e-12);
    metrics_free(&metrics);
    for (int again = 0; again < 3; again++) {
        resume(&metrics, &all, &none, times, KEPT);
        ck_assert_int_eq(metrics.count, EPOCHS);
        ck_assert_double_eq_tol(metrics_speed(&metrics, ROWS).s_per_epoch, 500.5, 51);
        ck_assert_int_eq(metrics_times(&metrics, times, KEPT), KEPT);
        metrics_free(&metrics);
    }
}
END_TEST

/* By the checkpoint of an older version. */
START_TEST(epochs_of_unknown_times_count_by_their_mean)
{
    const struct metrics_sums all = {4, 40, 4 * ROWS, 12, 1}, none = {0};
    struct metrics metrics;
    resume(&metrics, &all, &none, NULL, 0);
    expect(&metrics, 3, 20);
    end_epoch(&metrics, 1);
    end_epoch(&metrics, 2);
    expect(&metrics, 3, 20);
    end_epoch(&metrics, 2);
    expect(&metrics, 2.5, 25);
    metrics_free(&metrics);
}
END_TEST

/* A step of ROWS / 10 rows, of the running epoch's `spent_s` seconds. */
static void take_step(struct metrics *metrics, double spent_s)
{
    metrics->steps++;
    metrics->rows += ROWS / 10;
    metrics->epoch.spent_s = spent_s;
}

/* Resumed on other devices after 4 epochs of 10 steps, and 5 steps of the next that took 2 s. */
START_TEST(epochs_on_other_devices_do_not_count)
{
    const struct metrics_sums all = {4, 45, 4 * ROWS + ROWS / 2, 12, 8},
                              before = {4, 45, 4 * ROWS + ROWS / 2, 14, 8};
    struct metrics metrics;
    resume(&metrics, &all, &before, NULL, 0);
    metrics_begin_epoch(&metrics, 5);
    metrics.epoch.spent_s = 2;
    ck_assert_double_eq_tol(metrics_step_s(&metrics), 14.0 / 45, 1e-12);
    ck_assert_double_eq_tol(metrics_evaluation_s(&metrics), 2, 1e-12);
    ck_assert(isnan(metrics_speed(&metrics, ROWS).samples_per_s));
    take_step(&metrics, 2.1);
    ck_assert_double_eq_tol(metrics_step_s(&metrics), 0.1, 1e-12);
    metrics_end_epoch(&metrics, 2.1);
    ck_assert_double_eq_tol(metrics_speed(&metrics, ROWS).samples_per_s, ROWS, 1e-9);
    metrics_evaluated(&metrics, false, 1, 0.5, 0.5);
    ck_assert_double_eq_tol(metrics_evaluation_s(&metrics), 0.5, 1e-12);
    metrics_begin_epoch(&metrics, 6);
    metrics_count_from_here(&metrics);
    take_step(&metrics, 0.3);
    ck_assert_double_eq_tol(metrics_step_s(&metrics), 0.3, 1e-12);
    end_epoch(&metrics, 1);
    expect(&metrics, 1, 60);
    end_epoch(&metrics, 2);
    expect(&metrics, 2, 30);
    metrics_free(&metrics);
}
END_TEST

/* And again on the same ones, within epoch 7: the sixth counts by its time. */
START_TEST(those_since_then_count)
{
    const struct metrics_sums all = {6, 65, 6 * ROWS + ROWS / 2, 16, 9},
                              before = {5, 50, 5 * ROWS, 14.5, 8.5};
    struct metrics metrics;
    resume(&metrics, &all, &before, NULL, 0);
    expect(&metrics, 1.5, 40);
    metrics_begin_epoch(&metrics, 7);
    metrics.epoch.spent_s = 0.75;
    ck_assert_double_eq_tol(metrics_step_s(&metrics), 2.25 / 15, 1e-12);
    ck_assert_double_eq_tol(metrics_evaluation_s(&metrics), 0.5, 1e-12);
    end_epoch(&metrics, 2);
    expect(&metrics, 2, 30);
    metrics_free(&metrics);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tc = tcase_create("metrics");
    tcase_add_test(tc, the_median_is_without_the_first);
    tcase_add_test(tc, resumes_change_no_median);
    tcase_add_test(tc, many_epochs_keep_their_median);
    tcase_add_test(tc, epochs_of_unknown_times_count_by_their_mean);
    tcase_add_test(tc, epochs_on_other_devices_do_not_count);
    tcase_add_test(tc, those_since_then_count);
    suite_add_tcase(suite, tc);
    return run_suites(suite, NULL);
}

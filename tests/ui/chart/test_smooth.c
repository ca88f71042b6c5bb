/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/suites.h"
#include "ui/chart/curve.h"
#include "ui/chart/smooth.h"

/* The average over values[0..last], from its definition: each counts `weight` times the next one.
 */
static double average(const double *values, int last, double weight)
{
    double sum = 0, counts = 0, share = 1;
    for (int i = last; i >= 0; i--) {
        if (!isfinite(values[i]))
            continue;
        sum += share * values[i];
        counts += share;
        share *= weight;
    }
    return sum / counts;
}

START_TEST(values_count_less_the_older_they_are)
{
    static const double values[] = {2.3, 1.9, NAN, 2.6, 0.4, INFINITY, 0.5, 0.45};
    static const double weights[] = {0, 0.6, 0.9, 0.999};
    for (size_t i = 0; i < sizeof weights / sizeof weights[0]; i++) {
        struct smoother smoother = {.weight = weights[i]};
        for (int j = 0; j < 8; j++) {
            double smoothed = smoother_next(&smoother, values[j]);
            if (isfinite(values[j]))
                ck_assert_double_eq_tol(smoothed, average(values, j, weights[i]), 1e-12);
            else
                ck_assert(!isfinite(smoothed));
        }
    }
}
END_TEST

/* As TensorBoard's page computes it (vz_line_chart, resmoothDataset), with the numbers written out.
 */
START_TEST(it_begins_at_the_first_value)
{
    struct smoother smoother = {.weight = 0.6};
    ck_assert_double_eq_tol(smoother_next(&smoother, 5), 5, 1e-12);
    /* (5 * 0.4 * 0.6 + 1 * 0.4) / (1 - 0.36) */
    ck_assert_double_eq_tol(smoother_next(&smoother, 1), 2.5, 1e-12);
}
END_TEST

/* A part of a curve is that of the whole one, also where points are left out. */
START_TEST(what_is_not_in_sight_counts)
{
    enum { POINTS = 30000 };
    struct epoch_point *points = calloc(POINTS, sizeof *points);
    double *values = calloc(POINTS, sizeof *values);
    struct state_run run = {.run = 1, .points = points, .point_count = POINTS};
    struct chart_point *part;
    struct error err = ERROR_INIT;
    ck_assert(points && values);
    for (int i = 0; i < POINTS; i++) {
        points[i].epoch = i + 1;
        values[i] = points[i].value[METRIC_TEST_LOSS] = 1 + sin(0.1 * i) + 0.3 * sin(1.7 * i);
    }
    struct curve curve = curve_of(&run, METRIC_TEST_LOSS);
    int count = curve_copy(&curve, 100, 110, 0.9, &part, &err);
    ck_assert_int_eq(count, 12);
    for (int i = 0; i < count; i++)
        ck_assert_double_eq_tol(part[i].y, average(values, (int)part[i].x - 1, 0.9), 1e-9);
    free(part);
    count = curve_copy(&curve, 1, POINTS, 0.9, &part, &err);
    ck_assert_int_lt(count, CURVE_MOST + 3);
    for (int i = 0; i < count; i += 97)
        ck_assert_double_eq_tol(part[i].y, average(values, (int)part[i].x - 1, 0.9), 1e-9);
    free(part);
    free(values);
    free(points);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("smooth");
    TCase *tests = tcase_create("smooth");
    tcase_add_test(tests, values_count_less_the_older_they_are);
    tcase_add_test(tests, it_begins_at_the_first_value);
    tcase_add_test(tests, what_is_not_in_sight_counts);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

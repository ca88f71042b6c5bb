/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "tests/suites.h"
#include "ui/chart/axis.h"

/* Three epochs of 100 steps that took 10, 20 and 30 s, and two points of the fourth. */
static struct epoch_point points[] = {
    {.epoch = 1, .step = 100}, {.epoch = 2, .step = 200}, {.epoch = 3, .step = 300}};
static struct measured_epoch epochs[] = {
    {.epoch = 1, .seconds = 10}, {.epoch = 2, .seconds = 20}, {.epoch = 3, .seconds = 30}};
static struct epoch_point fine[] = {
    {.epoch = 0.5, .step = 50, .value[METRIC_SPEED] = 1},
    {.epoch = 3.1, .step = 310, .value[METRIC_SPEED] = 250},
    {.epoch = 3.4, .step = 340, .value[METRIC_SPEED] = 500},
};

static struct state_run run_of(int epoch_count, int fine_count)
{
    return (struct state_run){.run = 1,
                              .batch = 50,
                              .points = points,
                              .point_count = epoch_count,
                              .fine = fine,
                              .fine_count = fine_count,
                              .measure = {.epochs = epochs, .count = epoch_count}};
}

static void check_places(enum x_axis kind, const struct state_run *run, int count,
                         const double (*places)[2])
{
    struct axis axis;
    struct error err = ERROR_INIT;
    ck_assert(axis_open(&axis, kind, run, &err));
    ck_assert(axis_is_known(&axis));
    for (int i = 0; i < count; i++) {
        ck_assert_double_eq_tol(axis_at(&axis, places[i][0]), places[i][1], 1e-9);
        ck_assert_double_eq_tol(axis_epoch(&axis, places[i][1]), places[i][0], 1e-9);
    }
    axis_close(&axis);
}

START_TEST(epochs_stay_what_they_are)
{
    const struct state_run run = run_of(3, 3);
    check_places(X_EPOCHS, &run, 3, (const double[][2]){{0, 0}, {2.5, 2.5}, {10, 10}});
}
END_TEST

START_TEST(steps_are_those_of_the_points)
{
    const struct state_run run = run_of(3, 3), young = run_of(0, 1);
    check_places(X_STEPS, &run, 4, (const double[][2]){{0, 0}, {1.5, 150}, {3.4, 340}, {10, 1000}});
    check_places(X_STEPS, &young, 2, (const double[][2]){{0.25, 25}, {10, 1000}});
}
END_TEST

START_TEST(seconds_are_those_of_training)
{
    const struct state_run run = run_of(3, 1), running = run_of(3, 3), young = run_of(0, 1);
    /* An epoch's seconds lie evenly in it; after the last one all take the mean, 20 s. */
    check_places(X_SECONDS, &run, 5,
                 (const double[][2]){{0, 0}, {0.5, 5}, {1.5, 20}, {3, 60}, {10, 200}});
    /* 5000 rows an epoch: a tenth at 250 rows/s, then three at 500. */
    check_places(X_SECONDS, &running, 3, (const double[][2]){{3.1, 62}, {3.4, 65}, {4, 77}});
    /* In the first epoch there is nothing but that: half of it at 1 row/s. */
    check_places(X_SECONDS, &young, 2, (const double[][2]){{0.5, 2500}, {2, 10000}});
}
END_TEST

/* It resumes another one after the second epoch. */
START_TEST(a_resumed_run_begins_with_0)
{
    const struct state_run run = {.run = 1,
                                  .points = points + 2,
                                  .point_count = 1,
                                  .measure = {.epochs = epochs + 2, .count = 1}};
    check_places(X_SECONDS, &run, 3, (const double[][2]){{2, 0}, {2.5, 15}, {3, 30}});
}
END_TEST

START_TEST(what_is_not_known_has_no_place)
{
    struct state_run run = run_of(3, 3);
    struct axis axis;
    struct error err = ERROR_INIT;
    run.measure.count = 0;
    run.batch = NAN;
    ck_assert(axis_open(&axis, X_SECONDS, &run, &err));
    ck_assert(!axis_is_known(&axis));
    ck_assert(isnan(axis_at(&axis, 1)) && isnan(axis_epoch(&axis, 1)));
    axis_close(&axis);
    ck_assert(axis_open(&axis, X_STEPS, NULL, &err));
    ck_assert(!axis_is_known(&axis));
    axis_close(&axis);
}
END_TEST

START_TEST(an_estimated_end_is_rounded_up)
{
    static const double ends[][2] = {{1, 1}, {1.01, 1.2}, {199, 200}, {201, 250}, {0.081, 0.1}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        ck_assert_double_eq_tol(axis_end(ends[i][0]), ends[i][1], 1e-9);
    ck_assert_double_eq(axis_end(0), 1);
    ck_assert_double_eq(axis_end(NAN), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("axis");
    TCase *tests = tcase_create("axis");
    tcase_add_test(tests, epochs_stay_what_they_are);
    tcase_add_test(tests, steps_are_those_of_the_points);
    tcase_add_test(tests, seconds_are_those_of_training);
    tcase_add_test(tests, a_resumed_run_begins_with_0);
    tcase_add_test(tests, what_is_not_known_has_no_place);
    tcase_add_test(tests, an_estimated_end_is_rounded_up);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>

#include "engine/server/record/curve.h"
#include "tests/suites.h"

/* Points that sum up steps. */

#define ROWS 100 /* of an epoch: three steps of 30 and one of 10 */

static struct curve curve;
static struct {
    double loss_sum, seconds;
    long rows, correct, steps;
} all;

static void begin(long total_steps)
{
    json_t *event =
        json_pack("{s:I, s:i}", "total_steps", (json_int_t)total_steps, "train_rows", ROWS);
    curve = (struct curve){.count = 0};
    all.loss_sum = all.seconds = 0;
    all.rows = all.correct = all.steps = 0;
    curve_begin(&curve, event);
    json_decref(event);
}

/* Step number `step` from 1; true if it made a point. */
static bool add(long step, struct point *point)
{
    long rows = step % 4 ? 30 : 10, correct = step % 10;
    double loss = 2.0 / (double)step, seconds = 0.001 * (double)(step % 7 + 1);
    json_t *event =
        json_pack("{s:I, s:I, s:I, s:f, s:I, s:f, s:f}", "epoch", (json_int_t)((step - 1) / 4 + 1),
                  "step", (json_int_t)step, "rows", (json_int_t)rows, "loss", loss, "correct",
                  (json_int_t)correct, "seconds", seconds, "lr", step < 10 ? 0.1 : 0.05);
    bool made = curve_add(&curve, event, point);
    json_decref(event);
    all.loss_sum += loss * (double)rows;
    all.seconds += seconds;
    all.rows += rows;
    all.correct += correct;
    all.steps++;
    return made;
}

/* The points together are all the steps, in order, each step once. */
static void check_sums(long open)
{
    double loss_sum = 0, seconds = 0, epoch = 0;
    long rows = 0, correct = 0, steps = 0;
    for (size_t i = 0; i < curve.count; i++) {
        const struct point *point = &curve.points[i];
        loss_sum += point->loss_sum;
        seconds += point->seconds;
        rows += point->rows;
        correct += point->correct;
        steps += point->steps;
        ck_assert_int_eq(point->step, steps);
        ck_assert(point->epoch > epoch);
        epoch = point->epoch;
    }
    ck_assert_int_eq(steps + open, all.steps);
    if (open)
        return;
    ck_assert_double_eq_tol(loss_sum, all.loss_sum, 1e-9 * all.loss_sum);
    ck_assert_double_eq_tol(seconds, all.seconds, 1e-9 * all.seconds);
    ck_assert_int_eq(rows, all.rows);
    ck_assert_int_eq(correct, all.correct);
}

START_TEST(short_runs_have_a_point_for_each_step)
{
    struct point point;
    begin(256);
    for (long step = 1; step <= 256; step++) {
        ck_assert(add(step, &point));
        ck_assert_int_eq(point.steps, 1);
        ck_assert_int_eq(point.step, step);
    }
    ck_assert(!curve_end(&curve, &point));
    ck_assert_uint_eq(curve.count, 256);
    check_sums(0);
    ck_assert(curve.points[0].epoch == 0.3);
    ck_assert(curve.points[3].epoch == 1);
    ck_assert(curve.points[4].epoch == 1.3);
    ck_assert(curve.points[8].lr == 0.1 && curve.points[9].lr == 0.05);
    curve_free(&curve);
}
END_TEST

START_TEST(long_runs_have_a_256th_each)
{
    struct point point;
    begin(1000); /* 4 steps a point */
    for (long step = 1; step <= 1000; step++)
        ck_assert(add(step, &point) == (step % 4 == 0));
    ck_assert_uint_eq(curve.count, 250);
    check_sums(0);
    /* One that ends early keeps what it had. */
    ck_assert(!add(1001, &point));
    ck_assert(!add(1002, &point));
    check_sums(2);
    ck_assert(curve_end(&curve, &point));
    ck_assert_int_eq(point.steps, 2);
    ck_assert_int_eq(point.step, 1002);
    check_sums(0);
    curve_free(&curve);
}
END_TEST

START_TEST(there_are_never_more_than_1024)
{
    struct point point;
    begin(100);
    for (long step = 1; step <= 20000; step++) {
        add(step, &point);
        ck_assert_uint_le(curve.count, CURVE_MOST);
    }
    ck_assert_uint_ge(curve.count, CURVE_MOST / 2);
    curve_end(&curve, &point);
    ck_assert_uint_le(curve.count, CURVE_MOST);
    check_sums(0);
    /* Merged ones are of one size. */
    for (size_t i = 1; i + 1 < curve.count; i++)
        ck_assert_int_eq(curve.points[i].steps, curve.points[0].steps);
    curve_free(&curve);
}
END_TEST

START_TEST(a_point_is_the_mean_of_its_steps)
{
    struct point point;
    begin(512);
    ck_assert(!add(1, &point));
    ck_assert(add(2, &point));
    json_t *event = point_json(&point);
    ck_assert_str_eq(json_string_value(json_object_get(event, "event")), "point");
    ck_assert_double_eq_tol(json_number_value(json_object_get(event, "train_loss")), 1.5, 1e-12);
    ck_assert_double_eq_tol(json_number_value(json_object_get(event, "train_acc")), 3.0 / 60,
                            1e-12);
    ck_assert_double_eq_tol(json_number_value(json_object_get(event, "samples_per_s")), 60 / 0.005,
                            1e-6);
    ck_assert_double_eq_tol(json_number_value(json_object_get(event, "epoch")), 0.6, 1e-12);
    ck_assert_int_eq(json_integer_value(json_object_get(event, "steps")), 2);
    json_decref(event);
    curve_free(&curve);
}
END_TEST

START_TEST(a_loss_that_is_no_number_is_null)
{
    struct point point;
    begin(1);
    json_t *step = json_pack("{s:i, s:i, s:i, s:n, s:i, s:f, s:f}", "epoch", 1, "step", 1, "rows",
                             30, "loss", "correct", 3, "seconds", 0.01, "lr", 0.1);
    ck_assert(curve_add(&curve, step, &point));
    json_t *event = point_json(&point);
    ck_assert(json_is_null(json_object_get(event, "train_loss")));
    ck_assert_double_eq_tol(json_number_value(json_object_get(event, "train_acc")), 0.1, 1e-12);
    json_decref(event);
    json_decref(step);
    curve_free(&curve);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("curve");
    TCase *tests = tcase_create("curve");
    tcase_add_test(tests, short_runs_have_a_point_for_each_step);
    tcase_add_test(tests, long_runs_have_a_256th_each);
    tcase_add_test(tests, there_are_never_more_than_1024);
    tcase_add_test(tests, a_point_is_the_mean_of_its_steps);
    tcase_add_test(tests, a_loss_that_is_no_number_is_null);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

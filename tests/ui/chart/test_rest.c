/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/suites.h"
#include "ui/chart/rest.h"

/* The learning rates that are still to come in a run. */

static struct state_live at_step(long step, double epochs, double epoch_steps)
{
    struct state_live live = {.run = 1,
                              .step = (double)step,
                              .epoch = floor((double)step / epoch_steps) + 1,
                              .epochs = epochs,
                              .steps_per_epoch = epoch_steps,
                              .total_steps = epochs * epoch_steps,
                              .scheduled = true,
                              .schedule = {.shape = LR_COSINE, .warmup = 1}};
    const struct lr_length length = {(long)epoch_steps, (long)(epochs * epoch_steps)};
    live.lr = 0.2 * lr_share(&live.schedule, length, step);
    return live;
}

static int rest_of(const struct state_live *live, double begin, double to,
                   struct chart_point **points)
{
    struct error err = ERROR_INIT;
    return rest_copy(live, begin, 0, to, points, &err);
}

START_TEST(each_step_has_its_rate)
{
    const struct lr_length length = {10, 50};
    const struct state_live live = at_step(7, 5, 10);
    struct chart_point *points;
    ck_assert_int_eq(rest_of(&live, 5, 5, &points), 46);
    for (int i = 0; i <= 45; i++) {
        long step = i > 0 ? 5 + i - 1 : 5;
        ck_assert_double_eq_tol(points[i].x, (5 + i) / 10.0, 1e-12);
        ck_assert_double_eq_tol(points[i].y, 0.2 * lr_share(&live.schedule, length, step), 1e-12);
    }
    free(points);
}
END_TEST

START_TEST(a_live_change_scales_it)
{
    struct state_live live = at_step(20, 5, 10);
    struct chart_point *before, *after;
    int count = rest_of(&live, 20, 5, &before);
    live.lr *= 1.5;
    ck_assert_int_eq(rest_of(&live, 20, 5, &after), count);
    for (int i = 0; i < count; i++)
        ck_assert_double_eq_tol(after[i].y, 1.5 * before[i].y, 1e-12);
    free(before);
    free(after);
}
END_TEST

START_TEST(it_ends_where_the_run_does)
{
    struct state_live live = at_step(20, 5, 10);
    struct chart_point *points;
    int count = rest_of(&live, 20, 2.5, &points);
    ck_assert(points[count - 1].x == 2.5);
    free(points);
    live.stop_after_epoch = true;
    count = rest_of(&live, 20, 5, &points);
    ck_assert(points[count - 1].x == 3);
    free(points);
    ck_assert_int_eq(rest_of(&live, 30, 5, &points), 0);
    ck_assert_ptr_null(points);
}
END_TEST

/* Of a long run few steps, the same ones all the time, and the last one. */
START_TEST(a_long_run_is_thinned_out)
{
    double before = 0;
    for (long step = 0; step < 50000; step += 777) {
        const struct state_live live = at_step(step, 100, 1000);
        struct chart_point *points;
        int count = rest_of(&live, (double)step, 100, &points);
        ck_assert_int_le(count, REST_MOST);
        ck_assert_int_ge(count, REST_MOST / 2 - 2);
        ck_assert(points[count - 1].x == 100);
        double stride = points[2].x - points[1].x;
        ck_assert_double_eq_tol(remainder(points[1].x, stride), 0, 1e-9);
        ck_assert(before == 0 || stride <= before + 1e-9);
        before = stride;
        free(points);
    }
}
END_TEST

START_TEST(what_is_not_known_is_not_drawn)
{
    const struct state_live good = at_step(20, 5, 10);
    struct state_live bad[8];
    struct chart_point *points;
    for (int i = 0; i < 8; i++)
        bad[i] = good;
    bad[0].schedule = (struct lr_schedule){.shape = LR_CONSTANT};
    bad[1].total_steps = NAN;
    bad[2].steps_per_epoch = 0;
    bad[3].steps_per_epoch = 1e300;
    bad[4].lr = NAN;
    bad[5].step = NAN;
    bad[6].total_steps = 0;
    bad[7].total_steps = 15;
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(rest_of(&bad[i], 20, 5, &points), 0);
        ck_assert_ptr_null(points);
    }
    ck_assert_int_eq(rest_of(&good, NAN, 5, &points), 0);
    ck_assert_int_eq(rest_of(&good, 50, 5, &points), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rest");
    TCase *tcase = tcase_create("rest");
    tcase_add_test(tcase, each_step_has_its_rate);
    tcase_add_test(tcase, a_live_change_scales_it);
    tcase_add_test(tcase, it_ends_where_the_run_does);
    tcase_add_test(tcase, a_long_run_is_thinned_out);
    tcase_add_test(tcase, what_is_not_known_is_not_drawn);
    suite_add_tcase(suite, tcase);
    return run_suites(suite, NULL);
}

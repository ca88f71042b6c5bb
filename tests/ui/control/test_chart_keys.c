/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/control/chart_fixture.h"
#include "ui/chart/scale.h"
#include "ui/control/engine.h"
#include "ui/panels/chart.h"

/* What keys do in the chart: its cursor, and the part of a run that it shows. */

START_TEST(the_cursor_walks_from_point_to_point)
{
    /* Of the test: whole epochs. The first key shows the newest. */
    replay_keys(&replay, "<Left>");
    check_cursor(4);
    check_shown("Test accuracy at 4 ", true);
    check_shown("1: 0.840", true);
    replay_keys(&replay, "<Left><Left><Right><Right><Right><Right>");
    check_cursor(4);
    replay_keys(&replay, "<Home>");
    check_cursor(1);
    check_shown("1: 0.810", true);
    check_shown("run 1, epoch 1, step 100: lr 0.1", true);
    replay_keys(&replay, "<Left>");
    check_cursor(1);
    replay_keys(&replay, "<End><Esc>");
    ck_assert(!replay.ui.chart.reading);
    check_shown(" at 4", false);
    /* And Esc again does nothing. */
    replay_keys(&replay, "<Esc>");
    ck_assert(!replay.ui.quit);
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
}
END_TEST

START_TEST(between_epochs_and_by_whole_ones)
{
    replay_keys(&replay, "3<Right>");
    check_cursor(4.3);
    replay_keys(&replay, "<Left>");
    check_cursor(4.2);
    replay_keys(&replay, "<PageUp>");
    check_cursor(4);
    replay_keys(&replay, "<PageUp><Right><PageDown>");
    check_cursor(4);
    replay_keys(&replay, "<PageDown>");
    check_cursor(4);
    /* The same place on another curve. */
    replay_keys(&replay, "<Left><Left>1");
    check_shown("Test accuracy at 4 ", true);
    replay_keys(&replay, "3");
    check_shown("Train loss at 3.8 ", true);
    replay_keys(&replay, "0");
    ck_assert(!replay.ui.chart.reading);
}
END_TEST

START_TEST(changes_are_told_at_the_cursor)
{
    replay_keys(&replay, "6<Home><PageDown><PageDown>");
    check_cursor(2);
    check_shown("lr 0.1 -> 0.05", false);
    replay_keys(&replay, "<Right><Right><Right><Right><Right>");
    check_cursor(2.5);
    /* After 250 steps of 100 an epoch. */
    check_shown("epoch 2.5, step 250: lr 0.1; lr 0.1 -> 0.05 after step 250", true);
    replay_keys(&replay, "<Right>");
    check_shown("epoch 2.6, step 260: lr 0.05", true);
    check_shown("after step 250", false);
    /* Of whole epochs: the one in which it was. */
    replay_keys(&replay, "1<Home><Right><Right>");
    check_shown("epoch 3, step 300: lr 0.05; lr 0.1 -> 0.05 after step 250", true);
    check_shown("▲", true);
}
END_TEST

START_TEST(zoom_around_the_cursor)
{
    check_window(1, 8);
    replay_keys(&replay, "3");
    check_window(0, 8);
    replay_keys(&replay, "<Home><PageDown><PageDown>+");
    check_window(0, 4);
    replay_keys(&replay, "+");
    check_window(1, 3);
    replay_keys(&replay, "-");
    check_window(0, 4);
    replay_keys(&replay, "+<End>");
    /* The cursor turned pages of half a window. */
    check_window(3, 5);
    replay_keys(&replay, "<Home>");
    check_window(0, 2);
    replay_keys(&replay, "--");
    check_window(0, 8);
    check_cursor(0.1);
    replay_keys(&replay, "+0");
    check_window(0, 8);
    /* There is an end to it. */
    replay_keys(&replay, "++++++++++++++++++++");
    ck_assert_double_ge(replay.ui.chart.to - replay.ui.chart.from, 0.1);
    replay_keys(&replay, "--------------------");
    check_window(0, 8);
}
END_TEST

START_TEST(a_window_follows_by_pages)
{
    replay_keys(&replay, "3++");
    check_window(2.8, 4.8);
    int moved = 0;
    for (int tenth = 44; tenth <= 75; tenth++) {
        double before = replay.ui.chart.from;
        fine_point(1, tenth);
        moved += replay.ui.chart.from != before;
        ck_assert_double_ge(replay.ui.chart.to, tenth / 10.0 - 1e-9);
    }
    check_window(5.8, 7.8);
    ck_assert_int_eq(moved, 3);
    /* Not while a user reads values; but afterwards. */
    replay_keys(&replay, "<Left>");
    for (int tenth = 76; tenth <= 80; tenth++)
        fine_point(1, tenth);
    check_window(5.8, 7.8);
    replay_keys(&replay, "<Esc>");
    check_window(6, 8);
}
END_TEST

START_TEST(an_earlier_window_stays)
{
    replay_keys(&replay, "3<Home>++<Esc>");
    check_window(0, 2);
    fine_point(1, 44);
    check_window(0, 2);
}
END_TEST

START_TEST(another_run_is_shown_from_its_start)
{
    replay_keys(&replay, "3++<Left>");
    begin_run(2);
    check_window(0, 8);
    ck_assert(!replay.ui.chart.reading);
}
END_TEST

/* Three runs that have ended: run 2 is of another model, and the longest. */
START_TEST(the_run_in_front_has_the_axes)
{
    const struct state_run *runs[UI_CHART_RUNS];
    tell("{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":null,\"devices\":[]}}");
    tell("{\"id\":1,\"method\":\"runs\"}");
    tell("{\"id\":1,\"result\":[{\"run\":1,\"status\":\"done\",\"model\":\"m\",\"data\":\"d\","
         "\"epochs_done\":4},{\"run\":2,\"status\":\"done\",\"model\":\"n\",\"data\":\"d\","
         "\"epochs_done\":30},{\"run\":3,\"status\":\"done\",\"model\":\"m\",\"data\":\"d\","
         "\"epochs_done\":3}]}");
    for (int number = 1; number <= 30; number++) {
        epoch(2, number);
        if (number <= 3)
            epoch(3, number);
    }
    replay.ui.selected_run = 0;
    check_window(1, 3);
    ck_assert_int_eq(ui_chart_runs(&replay.ui, runs), 2);
    ck_assert_int_eq(runs[0]->run, 1);
    ck_assert_int_eq(runs[1]->run, 3);
    ui_toggle_mark(&replay.ui, 2);
    ck_assert_int_eq(ui_chart_runs(&replay.ui, runs), 2);
    ck_assert_int_eq(runs[0]->run, 2);
    check_window(1, 3);
}
END_TEST

START_TEST(the_scale_can_be_kept)
{
    struct ticks before, after;
    struct run_chart made;
    struct error err = ERROR_INIT;
    replay_keys(&replay, "3y");
    ck_assert(replay.ui.chart.fixed);
    ck_assert(run_chart_make(&replay.ui, replay.ui.chart.metric, &made, &err));
    before = chart_y_ticks(&made.chart, 5);
    run_chart_free(&made);
    replay_keys(&replay, "++");
    check_shown("Train loss, y fixed", true);
    ck_assert(run_chart_make(&replay.ui, replay.ui.chart.metric, &made, &err));
    after = chart_y_ticks(&made.chart, 5);
    ck_assert_double_eq(before.low, after.low);
    ck_assert_double_eq(before.high, after.high);
    ck_assert_int_eq(before.count, after.count);
    made.chart.fixed = false;
    after = chart_y_ticks(&made.chart, 5);
    ck_assert_double_lt(after.step, before.step);
    run_chart_free(&made);
    replay_keys(&replay, "y");
    ck_assert(!replay.ui.chart.fixed);
    /* It says nothing about another metric. */
    replay_keys(&replay, "y1");
    ck_assert(!replay.ui.chart.fixed);
}
END_TEST

START_TEST(nothing_to_read)
{
    replay_end(&replay);
    replay_begin(&replay);
    ui_connected(&replay.ui);
    replay_keys(&replay, "<Tab><Tab><Tab><Left><Home>++-0y");
    ck_assert(!replay.ui.chart.reading);
    replay_keys(&replay, "<Left>");
    check_shown("no curve to read yet", true);
}
END_TEST

START_TEST(long_runs_are_shown_whole)
{
    /* More epochs than the chart copies: what it does copy has the extremes. */
    enum { EPOCHS = 20000 };
    struct epoch_point *points = calloc(EPOCHS, sizeof *points);
    struct state_run run = {.run = 1, .points = points, .point_count = EPOCHS};
    struct chart_point *copied;
    struct error err = ERROR_INIT;
    double low = INFINITY, high = -INFINITY;
    ck_assert_ptr_nonnull(points);
    for (int i = 0; i < EPOCHS; i++) {
        points[i].epoch = i + 1;
        points[i].value[METRIC_TEST_ACC] = i == 7777 ? 0.99 : i == 12345 ? 0.01 : 0.5;
    }
    struct curve curve = curve_of(&run, METRIC_TEST_ACC);
    int count = curve_copy(&curve, 1, EPOCHS, 0, &copied, &err);
    ck_assert_int_gt(count, 100);
    ck_assert_int_le(count, CURVE_MOST + 2);
    for (int i = 0; i < count; i++) {
        ck_assert(i == 0 || copied[i].x > copied[i - 1].x);
        low = fmin(low, copied[i].y);
        high = fmax(high, copied[i].y);
    }
    ck_assert_double_eq(low, 0.01);
    ck_assert_double_eq(high, 0.99);
    free(copied);
    /* A part of them, with a point on either side. */
    count = curve_copy(&curve, 100.5, 103.5, 0, &copied, &err);
    ck_assert_int_eq(count, 5);
    ck_assert_double_eq(copied[0].x, 100);
    ck_assert_double_eq(copied[4].x, 104);
    free(copied);
    free(points);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chart keys");
    TCase *tests = chart_case("chart keys");
    tcase_add_test(tests, the_cursor_walks_from_point_to_point);
    tcase_add_test(tests, between_epochs_and_by_whole_ones);
    tcase_add_test(tests, changes_are_told_at_the_cursor);
    tcase_add_test(tests, zoom_around_the_cursor);
    tcase_add_test(tests, a_window_follows_by_pages);
    tcase_add_test(tests, an_earlier_window_stays);
    tcase_add_test(tests, another_run_is_shown_from_its_start);
    tcase_add_test(tests, the_run_in_front_has_the_axes);
    tcase_add_test(tests, the_scale_can_be_kept);
    tcase_add_test(tests, nothing_to_read);
    tcase_add_test(tests, long_runs_are_shown_whole);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

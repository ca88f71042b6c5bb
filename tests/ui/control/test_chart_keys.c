/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/replay.h"
#include "ui/chart/scale.h"
#include "ui/control/engine.h"
#include "ui/panels/chart.h"

/* What keys do in the chart: a run of 8 epochs trains, 100 steps each, and is watched. */

static struct replay replay;

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    replay_line(&replay, line);
}

/* A point each tenth of an epoch. */
static void fine_point(long run, int tenth)
{
    tell("{\"method\":\"event\",\"params\":{\"event\":\"point\",\"run\":%ld,\"epoch\":%g,"
         "\"step\":%d,\"train_loss\":%g,\"train_acc\":%g,\"samples_per_s\":4500,\"lr\":%g}}",
         run, tenth / 10.0, 10 * tenth, 2.3 * exp(-tenth / 20.0), 1 - exp(-tenth / 20.0),
         tenth <= 25 ? 0.1 : 0.05);
}

static void epoch(long run, int number)
{
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":%ld,\"epoch\":%d,"
         "\"step\":%d,\"train_loss\":%g,\"train_acc\":0.8,\"test_loss\":0.6,\"test_acc\":%g,"
         "\"lr\":0.1}}",
         run, number, 100 * number, 2.3 * exp(-number / 2.0), 0.8 + 0.01 * number);
}

static void begin_run(long run)
{
    tell("{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":{\"run\":%ld,\"status\":\"running\","
         "\"epochs\":8},\"devices\":[]}}",
         run);
    tell("{\"id\":1,\"method\":\"runs\"}");
    tell("{\"id\":1,\"result\":[{\"run\":1,\"status\":\"%s\",\"model\":\"m\",\"data\":\"d\","
         "\"lr\":0.1,\"epochs\":8,\"epochs_done\":0},{\"run\":2,\"status\":\"running\","
         "\"model\":\"m\",\"data\":\"d\",\"lr\":0.1,\"epochs\":8,\"epochs_done\":0}]}",
         run == 1 ? "running" : "done");
}

static void setup(void)
{
    replay_begin(&replay);
    ui_connected(&replay.ui);
    begin_run(1);
    for (int tenth = 1; tenth <= 43; tenth++) {
        fine_point(1, tenth);
        if (tenth % 10 == 0)
            epoch(1, tenth / 10);
    }
    tell("{\"method\":\"event\",\"params\":{\"event\":\"retune\",\"run\":1,\"epoch\":3,"
         "\"step\":250,\"what\":\"lr\",\"from\":0.1,\"to\":0.05}}");
    replay_keys(&replay, "<Tab><Tab><Tab>");
    ck_assert_int_eq(replay.ui.focus, PANEL_CHART);
}

static void teardown(void)
{
    replay_end(&replay);
}

static void check_window(double low, double high)
{
    double from, to;
    run_chart_window(&replay.ui, &from, &to);
    ck_assert_double_eq_tol(from, low, 1e-9);
    ck_assert_double_eq_tol(to, high, 1e-9);
}

static void check_cursor(double at)
{
    ck_assert(replay.ui.chart.reading);
    ck_assert_double_eq_tol(replay.ui.chart.cursor, at, 1e-9);
}

static void check_shown(const char *text, bool shown)
{
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_msg((strstr(screen, text) != NULL) == shown, "%s: %s\n%s",
                  shown ? "missing" : "there", text, screen);
    free(screen);
}

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

START_TEST(training_and_test_together)
{
    replay_keys(&replay, "b");
    check_window(0, 8);
    check_shown("1: 0.840", true);
    check_shown("train: 0.884", true);
    replay_keys(&replay, "2");
    check_shown("test: 0.840", true);
    /* There is no other samples/s. */
    replay_keys(&replay, "5");
    check_shown("test: ", false);
    replay_keys(&replay, "b");
    check_shown("only accuracy and loss", true);
    replay_keys(&replay, "1b");
    check_window(1, 8);
}
END_TEST

START_TEST(a_logarithmic_axis)
{
    struct run_chart made;
    struct error err = ERROR_INIT;
    double low, high;
    replay_keys(&replay, "l");
    check_shown("the y axis of accuracies is always linear", true);
    replay_keys(&replay, "3l");
    check_shown("Train loss, log   ", true);
    ck_assert_str_eq(preferences_get(&replay.ui.preferences, "y_axis"), "log");
    ck_assert(run_chart_make(&replay.ui, METRIC_TRAIN_LOSS, &made, &err));
    ck_assert_double_eq_tol(made.series[0].points[0].y, log10(2.3 * exp(-0.05)), 1e-5);
    ck_assert(chart_range(&made.chart, &low, &high));
    ck_assert_double_eq_tol(low, log10(2.3 * exp(-43 / 20.0)), 1e-5);
    run_chart_free(&made);
    /* What was fixed are values: it is the same on both axes. */
    replay_keys(&replay, "y++l");
    ck_assert(run_chart_make(&replay.ui, METRIC_TRAIN_LOSS, &made, &err));
    ck_assert(made.chart.fixed && !made.chart.logarithmic);
    ck_assert_double_eq_tol(made.chart.high, 2.3 * exp(-0.05), 1e-5);
    run_chart_free(&made);
    /* Not of accuracies, and without what has no logarithm. */
    replay_keys(&replay, "l1");
    check_shown("Test accuracy   ", true);
    tell("{\"method\":\"event\",\"params\":{\"event\":\"point\",\"run\":1,\"epoch\":4.4,"
         "\"step\":440,\"train_loss\":0}}");
    replay_keys(&replay, "3");
    check_shown("Train loss, log of values > 0   ", true);
}
END_TEST

/* How many of a rank; *one: the last of them. */
static int count_rank(const struct run_chart *made, enum series_rank rank,
                      const struct chart_series **one)
{
    int count = 0;
    for (int i = 0; i < made->chart.count; i++)
        if (made->series[i].rank == rank) {
            *one = &made->series[i];
            count++;
        }
    return count;
}

START_TEST(smoothed_curves)
{
    const struct chart_series *raw, *main;
    struct run_chart made;
    struct error err = ERROR_INIT;
    replay_keys(&replay, "3bo");
    check_shown("Train loss, smoothed 0.6 ", true);
    replay_keys(&replay, "o");
    check_shown("Train loss, smoothed 0.9 ", true);
    ck_assert_str_eq(preferences_get(&replay.ui.preferences, "smoothing"), "strong");
    ck_assert(run_chart_make(&replay.ui, METRIC_TRAIN_LOSS, &made, &err));
    /* Its own curve and the companion's are behind, as they were. */
    ck_assert_int_eq(count_rank(&made, SERIES_RAW, &raw), 2);
    ck_assert_int_eq(count_rank(&made, SERIES_MAIN, &main), 1);
    ck_assert_double_eq_tol(raw->points[42].y, 2.3 * exp(-43 / 20.0), 1e-5);
    ck_assert_double_eq(raw->points[0].y, main->points[0].y);
    ck_assert_double_gt(main->points[42].y, raw->points[42].y);
    /* Numbers are those that were measured, and a learning rate has no noise. */
    ck_assert_double_eq_tol(main->last, 2.3 * exp(-43 / 20.0), 1e-5);
    run_chart_free(&made);
    replay_keys(&replay, "6");
    check_shown("smoothed", false);
    replay_keys(&replay, "3o");
    check_shown("smoothed", false);
}
END_TEST

/* The window and the cursor stay at their epochs. */
START_TEST(over_steps_and_seconds)
{
    const struct chart_series *main;
    struct run_chart made;
    struct error err = ERROR_INIT;
    replay_keys(&replay, "3<Left>v");
    check_shown("Train loss at step 430 ", true);
    check_shown("  step 0 ", true);
    check_window(0, 8);
    ck_assert(run_chart_make(&replay.ui, METRIC_TRAIN_LOSS, &made, &err));
    ck_assert_double_eq(made.chart.x_high, 800);
    ck_assert_double_eq_tol(made.marks[0], 250, 1e-9);
    ck_assert_int_eq(count_rank(&made, SERIES_MAIN, &main), 1);
    for (int i = 0; i < main->count; i++)
        ck_assert_double_eq_tol(main->points[i].x, 10 * (i + 1), 1e-9);
    run_chart_free(&made);
    /* No event said how long an epoch takes. */
    replay_keys(&replay, "v");
    check_shown("run 1: its seconds are not known; v chooses", true);
    for (int i = 1; i <= 4; i++)
        tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":1,\"epoch\":%d,"
             "\"step\":%d,\"train_loss\":1,\"seconds\":20}}",
             i, 100 * i);
    check_shown("Train loss at 86 s ", true);
    check_shown("     s 0 ", true);
    ck_assert(run_chart_make(&replay.ui, METRIC_TRAIN_LOSS, &made, &err));
    /* The estimate, 160 s, rounded up. */
    ck_assert_double_eq_tol(made.chart.x_high, 200, 1e-9);
    run_chart_free(&made);
    replay_keys(&replay, "<Home>++");
    ck_assert(run_chart_make(&replay.ui, METRIC_TRAIN_LOSS, &made, &err));
    ck_assert_double_eq_tol(made.chart.x_low, 0, 1e-9);
    ck_assert_double_eq_tol(made.chart.x_high, 40, 1e-9);
    run_chart_free(&made);
    replay_keys(&replay, "v");
    check_window(0, 2);
    check_shown("Train loss at 0.1 ", true);
}
END_TEST

static void check_wide(const char *text, bool shown)
{
    char *screen = replay_screen(&replay, 50, 200, true);
    if ((strstr(screen, text) != NULL) != shown)
        printf("%s", screen);
    ck_assert_msg((strstr(screen, text) != NULL) == shown, "%s: %s", shown ? "missing" : "there",
                  text);
    free(screen);
}

/* Losses at the left and accuracies at the right, of training and test, whichever was chosen. */
START_TEST(wide_screens_have_two_charts)
{
    static const char *const titles[][2] = {
        {"Test loss ", "Test accuracy "},   {"Train loss ", "Train accuracy "},
        {"Train loss ", "Train accuracy "}, {"Test loss ", "Test accuracy "},
        {"Samples/s ", "Test accuracy "},   {"Learning rate ", "Train loss "},
        {"Noise scale ", "Train loss "}};
    char *screen = replay_screen(&replay, 50, 149, true);
    ck_assert_ptr_null(strstr(screen, "Test loss"));
    free(screen);
    for (int i = 0; i < METRIC_COUNT; i++) {
        replay_keys(&replay, (char[]){(char)('1' + i), '\0'});
        screen = replay_screen(&replay, 50, 150, true);
        const char *left = strstr(screen, titles[i][0]), *right = strstr(screen, titles[i][1]);
        ck_assert_msg(left && right && left < right, "metric %d:\n%s", i, screen);
        free(screen);
    }
    /* Over the same epochs, with the same cursor. */
    replay_keys(&replay, "1");
    check_wide("1: 0.840", true);
    check_wide("train: 0.884", true);
    check_wide("train: 0.268", true);
    check_window(0, 8);
    replay_keys(&replay, "<Left>");
    check_wide("Test accuracy at 4 ", true);
    check_wide("Test loss at 4 ", true);
    check_wide("1: 0.600", true);
    replay_keys(&replay, "b");
    check_wide("train: ", false);
}
END_TEST

START_TEST(training_is_shown_until_the_first_test)
{
    replay_end(&replay);
    replay_begin(&replay);
    ui_connected(&replay.ui);
    begin_run(1);
    check_shown("the first point comes after epoch 1", true);
    for (int tenth = 1; tenth <= 10; tenth++)
        fine_point(1, tenth);
    check_window(0, 8);
    check_shown("Test accuracy ", true);
    check_shown("train: 0.393", true);
    check_wide("the first test comes after epoch 1", true);
    epoch(1, 1);
    check_shown("train: ", false);
    check_shown("1: 0.810", true);
    check_wide("the first test", false);
}
END_TEST

/* On its test rows it is tested once, in the end. */
START_TEST(validation_and_test_together)
{
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":1,\"epoch\":5,"
         "\"step\":500,\"train_acc\":0.9,\"val_acc\":0.87,\"val_loss\":0.5}}");
    replay_keys(&replay, "2b");
    check_shown("val: 0.870", true);
    check_shown("test: ", false);
    tell("{\"id\":1,\"method\":\"runs\"}");
    tell("{\"id\":1,\"result\":[{\"run\":1,\"status\":\"done\",\"model\":\"m\",\"data\":\"d\","
         "\"epochs_done\":5,\"test_acc\":0.861,\"val_acc\":0.87}]}");
    check_shown("val: 0.870", true);
    check_shown(" * val", true);
    replay_keys(&replay, "b");
    check_wide("test: 0.861", true);
}
END_TEST

/* Known at ends of epochs only, where it is measured at all; no value of it is better. */
START_TEST(the_noise_scale_of_epochs)
{
    replay_keys(&replay, "7");
    check_shown("run 1 has no noise scale; one device alone", true);
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":1,\"epoch\":5,"
         "\"step\":500,\"test_acc\":0.85,\"noise_scale\":1904.2}}");
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":1,\"epoch\":6,"
         "\"step\":600,\"test_acc\":0.86,\"noise_scale\":812}}");
    check_shown("has no noise scale", false);
    check_shown("Noise scale", true);
    check_shown("1: 812", true);
    check_shown("best", false);
    check_window(1, 8);
    replay_keys(&replay, "<Left><Left>");
    check_cursor(5);
    check_shown("1: 1.90k", true);
    replay_keys(&replay, "c");
    ck_assert_int_eq(replay.ui.chart.metric, METRIC_TEST_ACC);
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
    TCase *tests = tcase_create("chart keys");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_cursor_walks_from_point_to_point);
    tcase_add_test(tests, between_epochs_and_by_whole_ones);
    tcase_add_test(tests, changes_are_told_at_the_cursor);
    tcase_add_test(tests, zoom_around_the_cursor);
    tcase_add_test(tests, a_window_follows_by_pages);
    tcase_add_test(tests, an_earlier_window_stays);
    tcase_add_test(tests, another_run_is_shown_from_its_start);
    tcase_add_test(tests, the_run_in_front_has_the_axes);
    tcase_add_test(tests, the_scale_can_be_kept);
    tcase_add_test(tests, training_and_test_together);
    tcase_add_test(tests, a_logarithmic_axis);
    tcase_add_test(tests, smoothed_curves);
    tcase_add_test(tests, over_steps_and_seconds);
    tcase_add_test(tests, wide_screens_have_two_charts);
    tcase_add_test(tests, training_is_shown_until_the_first_test);
    tcase_add_test(tests, validation_and_test_together);
    tcase_add_test(tests, the_noise_scale_of_epochs);
    tcase_add_test(tests, nothing_to_read);
    tcase_add_test(tests, long_runs_are_shown_whole);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

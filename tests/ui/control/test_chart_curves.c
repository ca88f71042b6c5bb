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

/* Which curves the chart has, over which axes, and how they are drawn. */

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
    const struct chart_series *raw = NULL, *main = NULL;
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
    const struct chart_series *main = NULL;
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
        {"Noise scale ", "Train loss "},    {"Joules per epoch ", "Test accuracy "},
        {"Samples/J ", "Test accuracy "}};
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

/* What is out of sight is known all the same. */
START_TEST(curves_out_of_sight_are_not_denied)
{
    replay.ui.chart.to = 0.5;
    check_shown("run 1: nothing is known of this", false);
    check_shown("run 1: nothing is in sight; 0 shows all epochs", true);
    replay_keys(&replay, "0v");
    replay.ui.chart.to = 0.5;
    check_shown("its steps are not known", false);
    /* An axis that was fixed does not hide why there is no curve. */
    replay_keys(&replay, "0vvy");
    ck_assert(replay.ui.chart.fixed);
    tell("{\"id\":1,\"method\":\"runs\"}");
    tell("{\"id\":1,\"result\":[{\"run\":1,\"status\":\"running\",\"model\":\"m\",\"data\":\"d\"},"
         "{\"run\":2,\"status\":\"running\",\"model\":\"n\",\"data\":\"d\",\"epochs\":8}]}");
    tell("{\"method\":\"state\",\"params\":{\"pid\":1,\"run\":{\"run\":2,\"status\":\"running\","
         "\"epochs\":8},\"devices\":[]}}");
    check_shown("run 2: the first point comes after epoch 1", true);
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
    /* Another run's points out of sight make no axis. */
    replay.ui.chart.from = 2;
    replay.ui.chart.to = 3;
    replay.ui.chart.reading = false;
    check_shown("1: 812", false);
    /* In front of it one that has none says so. */
    replay.ui.chart.from = replay.ui.chart.to = 0;
    begin_run(2);
    epoch(2, 1);
    check_wide("1: 812", true);
    check_wide("run 2 has none", true);
}
END_TEST

/* Likewise, and the less of one and the more of the other, the better. */
START_TEST(the_energy_of_epochs)
{
    replay_keys(&replay, "8");
    check_shown("run 1: its energy was not measured; the details", true);
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":1,\"epoch\":5,"
         "\"step\":500,\"test_acc\":0.85,\"seconds\":1,\"energy_j\":61.2,\"samples_per_j\":980}}");
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":1,\"epoch\":6,"
         "\"step\":600,\"test_acc\":0.86,\"seconds\":1,\"energy_j\":74,\"samples_per_j\":811}}");
    check_shown("Joules per epoch", true);
    check_shown("1: 74.0 best 61.2", true);
    replay_keys(&replay, "9");
    check_shown("Samples/J", true);
    check_shown("1: 811 best 980", true);
    replay_keys(&replay, "c");
    ck_assert_int_eq(replay.ui.chart.metric, METRIC_TEST_ACC);
    /* And in the list, as the epoch says it. */
    replay_keys(&replay, "R");
    check_wide("J/epoch", true);
    check_wide("67.6", true);
}
END_TEST

/* Before its curve is known, an epoch says nothing of those before it. */
START_TEST(a_late_epoch_is_no_mean)
{
    tell("{\"id\":1,\"method\":\"runs\"}");
    tell("{\"id\":1,\"result\":[{\"run\":3,\"status\":\"running\",\"model\":\"m\",\"data\":\"d\","
         "\"epochs\":8,\"epochs_done\":5,\"energy_j\":60,\"samples_per_j\":1000}]}");
    tell("{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":3,\"epoch\":6,"
         "\"step\":600,\"test_acc\":0.86,\"seconds\":1,\"energy_j\":90,\"samples_per_j\":667}}");
    ck_assert_double_eq(state_run(&replay.ui.state, 3)->energy_j, 60);
    ck_assert_double_eq(state_run(&replay.ui.state, 3)->samples_per_j, 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chart curves");
    TCase *tests = chart_case("chart curves");
    tcase_add_test(tests, training_and_test_together);
    tcase_add_test(tests, a_logarithmic_axis);
    tcase_add_test(tests, smoothed_curves);
    tcase_add_test(tests, over_steps_and_seconds);
    tcase_add_test(tests, wide_screens_have_two_charts);
    tcase_add_test(tests, training_is_shown_until_the_first_test);
    tcase_add_test(tests, curves_out_of_sight_are_not_denied);
    tcase_add_test(tests, validation_and_test_together);
    tcase_add_test(tests, the_noise_scale_of_epochs);
    tcase_add_test(tests, the_energy_of_epochs);
    tcase_add_test(tests, a_late_epoch_is_no_mean);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

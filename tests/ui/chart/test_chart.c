/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "ui/chart/chart.h"
#include "ui/chart/curve.h"
#include "ui/chart/plot.h"
#include "ui/chart/scale.h"

static void check_ticks(struct ticks ticks, double first, double step, int count, int decimals)
{
    ck_assert_double_eq_tol(ticks.first, first, 1e-9 * fabs(step));
    ck_assert_double_eq_tol(ticks.step, step, 1e-9 * fabs(step));
    ck_assert_int_eq(ticks.count, count);
    ck_assert_int_eq(ticks.decimals, decimals);
}

START_TEST(every_metric_has_a_look)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        ck_assert_msg(metric_look((enum metric)i)->title, "metric %d has none in curve.c", i);
}
END_TEST

START_TEST(round_steps)
{
    check_ticks(ticks_around(0.81, 0.93, 4), 0.8, 0.05, 4, 2);
    check_ticks(ticks_around(0, 1, 6), 0, 0.2, 6, 1);
    check_ticks(ticks_around(0.1, 2.31, 4), 0, 1, 4, 0);
    check_ticks(ticks_around(-3, 17, 5), -10, 10, 4, 0);
    check_ticks(ticks_around(1234, 5678, 3), 0, 5000, 3, 0);
    check_ticks(ticks_inside(1, 10, 6, 1), 2, 2, 5, 0);
    check_ticks(ticks_inside(1, 3, 9, 1), 1, 1, 3, 0);
    check_ticks(ticks_inside(1, 2, 2, 1), 1, 1, 2, 0);
    check_ticks(ticks_inside(1, 1000, 5, 1), 500, 500, 2, 0);
    check_ticks(ticks_inside(1.9, 4.3, 6, 1e-6), 2, 0.5, 5, 1);
    check_ticks(ticks_inside(1.9, 4.3, 6, 1), 2, 1, 3, 0);
}
END_TEST

START_TEST(any_range_gets_ticks_around_it)
{
    static const double values[] = {0,      1e-12, 0.1,  0.5,     0.93,     1,        2.302,
                                    1e6,    1e15,  -0.1, -1e6,    1e300,    NAN,      INFINITY,
                                    1e-300, 0.999, 5,    1e9 + 1, 99999.99, -INFINITY};
    size_t count = sizeof values / sizeof values[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            for (int most = 0; most < 20; most++) {
                double low = values[i], high = values[j];
                struct ticks t = ticks_around(low, high, most);
                ck_assert_int_ge(t.count, 2);
                ck_assert_int_le(t.count, most < 2 ? 2 : most);
                ck_assert(isfinite(t.first) && t.step > 0);
                if (low <= high && fabs(low) < 1e100 && fabs(high) < 1e100) {
                    ck_assert_double_le(t.first, low + t.step * 1e-6);
                    ck_assert_double_ge(t.first + t.step * (t.count - 1), high - t.step * 1e-6);
                }
            }
}
END_TEST

static void check_logarithmic(double low, double high, int most, const char *expected)
{
    struct chart_point ends[] = {{0, log10(low)}, {1, log10(high)}};
    struct chart_series series = {.points = ends, .count = 2, .rank = SERIES_MAIN};
    struct chart chart = {.x_high = 1,
                          .y_top = INFINITY,
                          .from_zero = true,
                          .logarithmic = true,
                          .series = &series,
                          .count = 1};
    struct ticks ticks = chart_y_ticks(&chart, most);
    struct text text = TEXT_INIT;
    text_printf(&text, "%g..%g:", pow(10, ticks.low), pow(10, ticks.high));
    for (int i = 0; i < ticks.count; i++)
        text_printf(&text, " %g", tick_value(&ticks, i));
    ck_assert_str_eq(text_cstr(&text), expected);
    text_free(&text);
}

START_TEST(logarithmic_ticks)
{
    check_logarithmic(0.06, 2.3, 7, "0.05..5: 0.05 0.1 0.2 0.5 1 2 5");
    check_logarithmic(0.06, 2.3, 6, "0.05..5: 0.1 1");
    check_logarithmic(1, 1000, 4, "1..1000: 1 10 100 1000");
    check_logarithmic(1, 1000, 3, "1..1000: 1 100");
    check_logarithmic(1e-5, 0.1, 3, "1e-05..0.1: 0.0001 0.01");
    /* One round number is no scale. */
    check_logarithmic(0.3, 3, 3, "0.2..5: 0.2 5");
    /* Less than half a decade: as on a linear axis, but never from 0. */
    check_logarithmic(0.31, 0.42, 4, "0.3..0.45: 0.3 0.35 0.4 0.45");
    check_logarithmic(4000, 4000, 3, "3950..4050: 3950 4000 4050");
    check_logarithmic(1e-320, 1e-310, 3, "1e-300..2e-300: 1e-300 2e-300");
}
END_TEST

static const struct chart_point rising[] = {{1, 0.80}, {2, 0.86}, {3, 0.90}, {4, 0.92}};

START_TEST(the_axis_stays_within_what_can_be)
{
    struct chart_point one = {1, 1.0};
    struct chart_series series = {.points = &one, .count = 1, .rank = SERIES_MAIN};
    struct chart chart = {.y_floor = 0, .y_top = 1, .series = &series, .count = 1};
    struct ticks ticks = chart_y_ticks(&chart, 5);
    ck_assert_double_le(ticks.first + ticks.step * (ticks.count - 1), 1 + 1e-9);
    one.y = 0;
    ticks = chart_y_ticks(&chart, 5);
    ck_assert_double_ge(ticks.first, -1e-9);
}
END_TEST

static char *draw(const struct chart *chart, int rows, int columns, bool utf8)
{
    struct surface surface = {.utf8 = utf8};
    struct error err = ERROR_INIT;
    struct text text = TEXT_INIT;
    ck_assert(surface_resize(&surface, rows, columns, &err));
    ck_assert(chart_draw(chart, &surface, (struct rect){0, 0, rows, columns}, &err));
    surface_dump(&surface, &text);
    ck_assert(text_cstr(&text) != NULL);
    surface_free(&surface);
    return text.data;
}

/* What the curve in front has drawn stays, cell by cell, up to `settled` columns from its end. */
static void check_appended(const struct surface *before, const struct surface *surface, int settled)
{
    for (int y = 1; y < 9; y++)
        for (int x = 8; x < 8 + settled; x++) {
            const struct cell *old = surface_at(before, y, x);
            const struct cell *new = surface_at(surface, y, x);
            if (old->style == STYLE_SERIES && old->character >= 0x2800)
                ck_assert_uint_eq(new->character, old->character);
            else
                ck_assert(new->style != STYLE_SERIES || new->character < 0x2800);
        }
}

/* Let the curve in front grow from `low` on, in a chart of low..high. */
static void grow(struct chart *chart, struct chart_series *front, int most)
{
    enum { COLUMNS = 60, INSIDE = COLUMNS - 8 - 5 };
    struct surface surface = {.utf8 = true}, before = {.utf8 = true};
    struct error err = ERROR_INIT;
    ck_assert(surface_resize(&surface, 12, COLUMNS, &err) &&
              surface_resize(&before, 12, COLUMNS, &err));
    for (int count = 1; count <= most; count++) {
        surface_clear(&surface);
        front->count = count;
        ck_assert(chart_draw(chart, &surface, (struct rect){0, 0, 12, COLUMNS}, &err));
        if (count > 2) {
            double end = (front->points[count - 2].x - chart->x_low) /
                         (chart->x_high - chart->x_low) * (INSIDE - 1);
            check_appended(&before, &surface, (int)fmin(end, INSIDE));
        }
        memcpy(before.cells, surface.cells, 12 * COLUMNS * sizeof *surface.cells);
    }
    surface_free(&surface);
    surface_free(&before);
}

START_TEST(a_growing_curve_only_appends)
{
    enum { FINE = 300 };
    static const struct chart_point past[] = {{0, 0.7}, {10, 0.95}};
    struct chart_point fine[FINE];
    struct chart_series both[] = {
        {.points = past, .count = 2, .rank = SERIES_PAST, .number = 1, .best = NAN},
        {.points = rising, .rank = SERIES_MAIN, .number = 2},
    };
    struct chart chart = {
        .title = "Test accuracy",
        .x_low = 1,
        .x_high = 10,
        .y_top = 1,
        .series = both,
        .count = 2,
    };
    grow(&chart, &both[1], 4);
    /* Many more points than dots, with noise. */
    for (int i = 0; i < FINE; i++)
        fine[i] =
            (struct chart_point){(i + 1) * 10.0 / FINE, 0.75 + 0.0005 * i + 0.03 * sin(1.7 * i)};
    both[1].points = fine;
    chart.x_low = 0;
    grow(&chart, &both[1], FINE);
    /* A part of the epochs: all that is not in sight moves nothing. */
    chart.fixed = true;
    chart.low = 0.7;
    chart.high = 0.95;
    chart.x_fractions = true;
    chart.x_low = 3.2;
    chart.x_high = 5.7;
    grow(&chart, &both[1], FINE);
}
END_TEST

START_TEST(all_points_of_a_column_are_spanned)
{
    /* A thousand points, one of them far up, in a chart of a few columns. */
    struct chart_point points[1000];
    struct chart_series series = {.points = points, .count = 1000, .rank = SERIES_MAIN};
    struct chart chart = {.title = "", .x_low = 0, .x_high = 999, .series = &series, .count = 1};
    struct surface surface = {.utf8 = false};
    struct error err = ERROR_INIT;
    int high = 0;
    chart.y_top = INFINITY;
    for (int i = 0; i < 1000; i++)
        points[i] = (struct chart_point){i, i == 500 ? 1 : 0};
    ck_assert(surface_resize(&surface, 9, 40, &err));
    ck_assert(chart_draw(&chart, &surface, (struct rect){0, 0, 9, 40}, &err));
    for (int x = 8; x < 35; x++)
        high += surface_at(&surface, 1, x)->character != ' ';
    ck_assert_int_eq(high, 1);
    surface_free(&surface);
}
END_TEST

START_TEST(a_curve_that_explodes_squashes_nothing)
{
    static const struct chart_point sane[] = {{1, 2.3}, {2, 0.9}, {3, 0.5}};
    static const struct chart_point spike[] = {{1, 2.2}, {2, 1e9}, {3, 0.6}};
    static const struct chart_point wild[] = {{1, 4e8}, {2, 8e30}, {3, NAN}};
    struct chart_series series[] = {
        {.points = wild, .count = 3, .rank = SERIES_PAST, .number = 1},
        {.points = spike, .count = 3, .rank = SERIES_PAST, .number = 2},
        {.points = sane, .count = 3, .rank = SERIES_MAIN, .number = 3},
    };
    struct chart chart = {.title = "Train loss",
                          .x_low = 1,
                          .x_high = 3,
                          .y_top = INFINITY,
                          .may_diverge = true,
                          .series = series,
                          .count = 3};
    double low, high;
    ck_assert(chart_range(&chart, &low, &high));
    ck_assert_double_eq(low, 0.5);
    ck_assert_double_eq(high, 2.3);
    /* The spike leaves through the top, and says so. */
    char *text = draw(&chart, 12, 50, true);
    ck_assert_ptr_nonnull(strstr(text, "↑"));
    free(text);
    /* With nothing else to see, what it begins with is shown. */
    chart.count = 1;
    ck_assert(chart_range(&chart, &low, &high));
    ck_assert_double_eq(high, 4e8);
    /* Where nothing can diverge, nothing is cut. */
    chart.count = 3;
    chart.may_diverge = false;
    ck_assert(chart_range(&chart, &low, &high));
    ck_assert_double_eq(high, 8e30);
}
END_TEST

START_TEST(the_front_curve_has_the_y_axis)
{
    static const struct chart_point high[] = {{1, 20}, {2, 30}};
    static const struct chart_point train[] = {{1, 0.70}, {2, 0.95}};
    struct chart_series series[] = {
        {.points = high, .count = 2, .rank = SERIES_MARKED, .number = 1},
        {.points = train, .count = 2, .rank = SERIES_COMPANION, .name = "train"},
        {.points = rising, .count = 4, .rank = SERIES_MAIN, .number = 2},
    };
    struct chart chart = {
        .x_low = 1, .x_high = 4, .fits_front = true, .series = series, .count = 3};
    double low, most;
    ck_assert(chart_range(&chart, &low, &most));
    ck_assert_double_eq(low, 0.70);
    ck_assert_double_eq(most, 0.95);
    /* As long as the front one has no point, the others are better than nothing. */
    series[1].count = series[2].count = 0;
    ck_assert(chart_range(&chart, &low, &most));
    ck_assert_double_eq(most, 30);
}
END_TEST

START_TEST(the_scale_fits_what_is_in_sight)
{
    struct chart_series series = {.points = rising, .count = 4, .rank = SERIES_MAIN};
    struct chart chart = {.x_low = 2.5, .x_high = 3.5, .y_top = 1, .series = &series, .count = 1};
    double low, high;
    /* The line, not only the points. */
    ck_assert(chart_range(&chart, &low, &high));
    ck_assert_double_eq_tol(low, 0.88, 1e-9);
    ck_assert_double_eq_tol(high, 0.91, 1e-9);
    series.stepped = true;
    ck_assert(chart_range(&chart, &low, &high));
    ck_assert_double_eq_tol(low, 0.90, 1e-9);
    ck_assert_double_eq_tol(high, 0.92, 1e-9);
    chart.from_zero = true;
    ck_assert(chart_range(&chart, &low, &high));
    ck_assert_double_eq(low, 0);
    chart.x_low = 7;
    chart.x_high = 9;
    ck_assert(!chart_range(&chart, &low, &high));
    chart.fixed = true;
    chart.low = 0;
    chart.high = 1;
    check_ticks(chart_y_ticks(&chart, 6), 0, 0.2, 6, 1);
}
END_TEST

START_TEST(steps_cursor_marks_and_units)
{
    static const struct chart_point rate[] = {{0, 0.2}, {2, 0.2}, {4, 0.1}};
    static const struct chart_point ideal[] = {{0, 0}, {4, 0.2}};
    static const double marks[] = {2, 77, NAN};
    struct chart_series series[] = {
        {.points = ideal,
         .count = 2,
         .rank = SERIES_REFERENCE,
         .name = "ideal",
         .last = 0.2,
         .best = NAN,
         .at = 0.15},
        {.points = rate,
         .count = 3,
         .rank = SERIES_MAIN,
         .stepped = true,
         .number = 12,
         .best = NAN,
         .at = 0.1},
    };
    struct chart chart = {.title = "Efficiency",
                          .x_label = "devs",
                          .x_high = 4,
                          .y_top = INFINITY,
                          .from_zero = true,
                          .unit = CHART_PERCENT,
                          .marks = marks,
                          .mark_count = 3,
                          .reading = true,
                          .cursor = 3,
                          .series = series,
                          .count = 2};
    char *text = draw(&chart, 10, 50, false);
    ck_assert_str_eq(text, "Efficiency   ---- 12: 10%  -    ideal: 15%\n"
                           "   20% +'''''''''''''''''|        |     -   ideal\n"
                           "       |                 |        | -\n"
                           "       |                 |  .   ' |\n"
                           "   10% +                .'----------------- 12\n"
                           "       |            -             |\n"
                           "       |        '                 |\n"
                           "    0% +.   '                     |\n"
                           "       ++--------+-------^--------+-------+\n"
                           "   devs 0        1       2        3       4\n");
    free(text);
}
END_TEST

/* Labels of the axis that the cursor's would cut go, and a long title leaves room for the value. */
START_TEST(the_cursor_cuts_nothing)
{
    static const struct chart_point points[] = {{0, 1}, {1000, 2}};
    struct chart_series series = {
        .points = points, .count = 2, .rank = SERIES_MAIN, .number = 7, .best = NAN, .at = 1.52};
    struct chart chart = {.title = "Validation accuracy at 520, smoothed 0.6, y fixed",
                          .x_high = 1000,
                          .y_top = INFINITY,
                          .decimals = 3,
                          .reading = true,
                          .cursor = 525,
                          .series = &series,
                          .count = 1};
    char *text = draw(&chart, 8, 50, false);
    ck_assert_msg(strstr(text, " epoch  0     200    400  525       800    1000\n"), "%s", text);
    ck_assert_msg(strstr(text, "smoot~   ---- 7: 1.520\n"), "%s", text);
    free(text);
}
END_TEST

/* An exponential is a straight line, and the labels are of the values. */
START_TEST(a_logarithmic_chart_in_ascii)
{
    static const struct chart_point points[] = {{0, 0}, {1, NAN}, {2, -1}, {3, -2}};
    struct chart_series series = {.points = points,
                                  .count = 4,
                                  .rank = SERIES_MAIN,
                                  .number = 12,
                                  .last = 0.01,
                                  .best = 0.01};
    struct chart chart = {.title = "Train loss, log",
                          .x_high = 3,
                          .y_top = INFINITY,
                          .logarithmic = true,
                          .decimals = 3,
                          .series = &series,
                          .count = 1};
    char *text = draw(&chart, 10, 44, false);
    ck_assert_str_eq(text, "Train loss, log   ---- 12: 0.010 best 0.010\n"
                           "     1 +'\n"
                           "       |\n"
                           "       |\n"
                           "   0.1 +                    -.\n"
                           "       |                      '-.\n"
                           "       |                         '-.\n"
                           "  0.01 +                            '-. 12\n"
                           "       ++---------+---------+---------+\n"
                           " epoch  0         1         2         3\n");
    free(text);
}
END_TEST

START_TEST(a_small_chart_in_ascii)
{
    struct chart_series series = {.points = rising,
                                  .count = 4,
                                  .rank = SERIES_MAIN,
                                  .number = 12,
                                  .last = 0.92,
                                  .best = 0.92};
    struct chart chart = {.title = "Test accuracy",
                          .x_low = 1,
                          .x_high = 4,
                          .y_top = 1,
                          .decimals = 3,
                          .series = &series,
                          .count = 1};
    char *text = draw(&chart, 9, 44, false);
    ck_assert_str_eq(text, "Test accuracy   ---- 12: 0.920 best 0.920\n"
                           "  0.95 +\n"
                           "       |                      ...----'' 12\n"
                           "  0.90 +              ...--'''\n"
                           "  0.85 +        ..--''\n"
                           "       |    .--'\n"
                           "  0.80 +.--'\n"
                           "       ++---------+---------+---------+\n"
                           " epoch  1         2         3         4\n");
    free(text);
}
END_TEST

static unsigned turned(unsigned pattern, int by)
{
    return (pattern << by | pattern >> (8 - by)) & 0xff;
}

/* Without colours, too: no pattern is another one that begins elsewhere. */
START_TEST(marked_curves_differ)
{
    for (int i = 0; i < SERIES_LOOKS; i++)
        for (int j = 0; j < i; j++)
            for (int by = 0; by < 8; by++) {
                struct chart_series one = {.rank = SERIES_MARKED, .look = i};
                struct chart_series other = {.rank = SERIES_MARKED, .look = j};
                ck_assert_uint_ne(series_pen(&one, 0).pattern,
                                  turned(series_pen(&other, 0).pattern, by));
            }
}
END_TEST

START_TEST(gaps_and_missing_figures)
{
    struct chart_point points[] = {{1, NAN}, {2, 0.5}, {3, NAN}, {4, NAN}};
    struct chart_series series = {.points = points, .count = 4, .rank = SERIES_MAIN, .number = 3};
    struct chart chart = {.title = "Loss",
                          .advice = "nothing yet",
                          .x_low = 1,
                          .x_high = 4,
                          .y_top = INFINITY,
                          .series = &series,
                          .count = 1};
    char *text = draw(&chart, 9, 44, true);
    ck_assert_ptr_nonnull(strstr(text, "3"));
    ck_assert_ptr_null(strstr(text, "nothing yet"));
    free(text);
    points[1].y = NAN;
    text = draw(&chart, 9, 44, true);
    ck_assert_ptr_nonnull(strstr(text, "nothing yet"));
    free(text);
}
END_TEST

START_TEST(every_size_is_drawn)
{
    struct chart_point wild[] = {{1, -1e200}, {2, 1e300}, {3, 0}, {1e9, 5}};
    struct chart_series series[] = {
        {.points = wild, .count = 4, .rank = SERIES_PAST, .number = 1000000000},
        {.points = rising, .count = 4, .rank = SERIES_MAIN, .number = 2},
    };
    struct chart chart = {
        .title = "Test accuracy",
        .x_low = 1,
        .x_high = 1e9,
        .y_top = 1,
        .series = series,
        .count = 2,
    };
    for (int rows = 1; rows < 30; rows++)
        for (int columns = 1; columns < 90; columns += 3)
            free(draw(&chart, rows, columns, columns % 2));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chart");
    TCase *tests = tcase_create("chart");
    tcase_add_test(tests, every_metric_has_a_look);
    tcase_add_test(tests, round_steps);
    tcase_add_test(tests, any_range_gets_ticks_around_it);
    tcase_add_test(tests, logarithmic_ticks);
    tcase_add_test(tests, the_axis_stays_within_what_can_be);
    tcase_add_test(tests, a_growing_curve_only_appends);
    tcase_add_test(tests, all_points_of_a_column_are_spanned);
    tcase_add_test(tests, a_curve_that_explodes_squashes_nothing);
    tcase_add_test(tests, the_front_curve_has_the_y_axis);
    tcase_add_test(tests, the_scale_fits_what_is_in_sight);
    tcase_add_test(tests, steps_cursor_marks_and_units);
    tcase_add_test(tests, the_cursor_cuts_nothing);
    tcase_add_test(tests, a_logarithmic_chart_in_ascii);
    tcase_add_test(tests, a_small_chart_in_ascii);
    tcase_add_test(tests, marked_curves_differ);
    tcase_add_test(tests, gaps_and_missing_figures);
    tcase_add_test(tests, every_size_is_drawn);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

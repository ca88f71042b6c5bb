/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/chart.h"

static void check_ticks(struct ticks ticks, double first, double step, int count, int decimals)
{
    ck_assert_double_eq_tol(ticks.first, first, 1e-9 * fabs(step));
    ck_assert_double_eq_tol(ticks.step, step, 1e-9 * fabs(step));
    ck_assert_int_eq(ticks.count, count);
    ck_assert_int_eq(ticks.decimals, decimals);
}

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

START_TEST(a_growing_curve_only_appends)
{
    struct chart_series series = {.points = rising, .rank = SERIES_MAIN, .number = 1};
    struct chart_point past[] = {{1, 0.8}, {10, 0.95}};
    struct chart_series both[] = {
        {.points = past, .count = 2, .rank = SERIES_PAST, .number = 1, .last = NAN},
        series,
    };
    struct chart chart = {
        .title = "Test accuracy",
        .x_low = 1,
        .x_high = 10,
        .y_top = 1,
        .series = both,
        .count = 2,
    };
    struct surface surface = {.utf8 = true}, before = {.utf8 = true};
    struct error err = ERROR_INIT;

    ck_assert(surface_resize(&surface, 12, 60, &err) && surface_resize(&before, 12, 60, &err));
    /* What the curve in front has drawn stays, cell by cell, while points come in. */
    for (int count = 1; count <= 4; count++) {
        both[1].count = count;
        surface_clear(&surface);
        ck_assert(chart_draw(&chart, &surface, (struct rect){0, 0, 12, 60}, &err));
        for (int y = 1; y < 9; y++)
            for (int x = 8; x < 8 + (count - 2) * 5; x++) {
                const struct cell *old = surface_at(&before, y, x);

                if (count > 1 && old->style == STYLE_SERIES && old->character >= 0x2800)
                    ck_assert_uint_eq(surface_at(&surface, y, x)->character, old->character);
            }
        memcpy(before.cells, surface.cells, 12 * 60 * sizeof *surface.cells);
    }
    surface_free(&surface);
    surface_free(&before);
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

    tcase_add_test(tests, round_steps);
    tcase_add_test(tests, any_range_gets_ticks_around_it);
    tcase_add_test(tests, the_axis_stays_within_what_can_be);
    tcase_add_test(tests, a_growing_curve_only_appends);
    tcase_add_test(tests, a_small_chart_in_ascii);
    tcase_add_test(tests, gaps_and_missing_figures);
    tcase_add_test(tests, every_size_is_drawn);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

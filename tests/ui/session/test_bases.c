/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/replay.h"
#include "ui/control/engine.h"
#include "ui/control/refresh.h"
#include "ui/session/comparison.h"

/* Which runs are alike, and what the speed-up in the lists is against: from the list of runs alone,
 * before anything else is known of them. */

static struct replay replay;

static void begin(void)
{
    replay_begin(&replay);
    ui_connected(&replay.ui);
}

static void end(void)
{
    replay_end(&replay);
}

/* A list of runs that have ended. */
static void tell_runs(const char *runs)
{
    struct error none = ERROR_INIT;
    json_t *list = json_loads(runs, 0, NULL);
    ck_assert_ptr_nonnull(list);
    ui_answer(&replay.ui, REQUEST_RUNS, list, &none);
    json_decref(list);
}

#define RUN(number, devices, likeness, batch, lr, speed)                                           \
    "{\"run\":" #number ",\"status\":\"done\",\"model\":\"lenet\",\"data\":\"glyphs\","            \
    "\"devices\":[" devices "],\"batch\":" #batch ",\"lr\":" #lr                                   \
    ",\"epochs\":3,\"epochs_done\":3,"                                                             \
    "\"split\":\"chunk\",\"sync\":\"allreduce\",\"strategy\":\"data\",\"threads\":1,"              \
    "\"likeness\":" #likeness ",\"samples_per_s\":" #speed "}"
#define ONE "\"cpu:0\""
#define TWO "\"cpu:0\",\"cpu:1\""

static void check_base(long run, long base, double speed_up)
{
    const struct state_run *known = state_run(&replay.ui.state, run);
    ck_assert_int_eq(known->base, base);
    if (isfinite(speed_up))
        ck_assert_double_eq_tol(known->speed_up, speed_up, 1e-9);
    else
        ck_assert(!isfinite(known->speed_up));
}

START_TEST(speed_up_is_against_a_run_that_is_alike)
{
    /* The first run of the store has other settings, the third another batch. */
    tell_runs("[" RUN(1, ONE, 7, 64, 0.1, 500) "," RUN(2, ONE, 5, 64, 0.1, 100) "," RUN(
        3, ONE, 5, 32, 0.1, 50) "," RUN(4, TWO, 5, 64, 0.1, 150) "," RUN(5, TWO, 6, 64, 0.1,
                                                                         300) "," RUN(6, TWO, 5, 64,
                                                                                      0.2, 90) "]");
    check_base(1, 0, NAN);
    check_base(2, 2, 1);
    check_base(4, 2, 1.5);
    check_base(5, 0, NAN);
    /* With as many rows on each device, and a learning rate that grows with them. */
    check_base(6, 3, 1.8);
    check_base(3, 3, 1);
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(screen, "1.50x #2"));
    free(screen);
}
END_TEST

START_TEST(of_several_the_compare_view_decides)
{
    struct comparison comparison;
    tell_runs("[" RUN(1, ONE, 5, 64, 0.1, 100) "," RUN(2, ONE, 5, 64, 0.1,
                                                       120) "," RUN(3, TWO, 5, 64, 0.1, 180) "]");
    check_base(3, 2, 1.5);
    ui_toggle_mark(&replay.ui, 1);
    ui_refresh(&replay.ui);
    check_base(3, 1, 1.8);
    replay.ui.compare.anchor = 3;
    comparison_make(&replay.ui, &comparison);
    ck_assert_int_eq(comparison.series[0].rows[0].run.run, 1);
}
END_TEST

START_TEST(unknown_settings_equal_nothing)
{
    struct comparison comparison;
    /* As an older engine has them: the settings come with `show`, later. */
    tell_runs("[" RUN(1, ONE, null, 64, 0.1, 100) "," RUN(2, TWO, null, 64, 0.1, 180) "]");
    check_base(2, 0, NAN);
    comparison_make(&replay.ui, &comparison);
    ck_assert(!comparison_says_something(&comparison));
    tell_runs("[" RUN(1, ONE, 4, 64, 0.1, 100) "," RUN(2, TWO, 5, 64, 0.1, 180) "]");
    comparison_make(&replay.ui, &comparison);
    ck_assert(!comparison_says_something(&comparison));
    tell_runs("[" RUN(1, ONE, 5, 64, 0.1, 100) "," RUN(2, TWO, 5, 64, 0.1, 180) "]");
    comparison_make(&replay.ui, &comparison);
    ck_assert_int_eq(comparison.series[0].count, 2);
}
END_TEST

static bool on_screen(int rows, int columns, const char *text)
{
    char *screen = replay_screen(&replay, rows, columns, true);
    const bool found = strstr(screen, text);
    free(screen);
    return found;
}

/* A part of it would name another run; where there is no room the column is left out. */
START_TEST(the_number_of_a_base_is_never_cut)
{
    static const int sizes[][2] = {{24, 80}, {30, 100}, {40, 120}};
    tell_runs("[" RUN(3456, ONE, 5, 64, 0.1, 100) "," RUN(3457, TWO, 5, 64, 0.1, 1230) "]");
    check_base(3457, 3456, 12.3);
    for (int i = 0; i < 3; i++)
        for (const char *view = "DR"; *view != '\0'; view++) {
            replay_keys(&replay, *view == 'D' ? "D" : "R");
            ck_assert(on_screen(sizes[i][0], sizes[i][1], "12.30x #3456") ||
                      !on_screen(sizes[i][0], sizes[i][1], "12.30x"));
        }
    ck_assert(on_screen(40, 120, "12.30x #3456"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bases");
    TCase *tests = tcase_create("bases");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, speed_up_is_against_a_run_that_is_alike);
    tcase_add_test(tests, of_several_the_compare_view_decides);
    tcase_add_test(tests, unknown_settings_equal_nothing);
    tcase_add_test(tests, the_number_of_a_base_is_never_cut);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

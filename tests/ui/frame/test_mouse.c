/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/replay.h"
#include "ui/control/control.h"
#include "ui/frame/mouse.h"

/* Clicks, the wheel and pasted text, on screens of 80x24 unless said otherwise. */

enum { ROWS = 24, COLUMNS = 80 };

static struct replay replay;

static void setup(void)
{
    replay_begin(&replay);
    replay_recording(&replay, "finished", 0);
}

static void teardown(void)
{
    replay_end(&replay);
}

/* The cell where `text` first stands on the screen. */
static void find(const char *text, int *y, int *x)
{
    char *screen = replay_screen(&replay, ROWS, COLUMNS, false), *rest = screen, *row;
    *y = 0;
    while ((row = strsep(&rest, "\n"))) {
        const char *found = strstr(row, text);
        if (found) {
            *x = (int)(found - row);
            free(screen);
            return;
        }
        ++*y;
    }
    ck_abort_msg("'%s' is not on the screen", text);
}

static void point(const char *text, enum mouse_event event)
{
    int y, x;
    find(text, &y, &x);
    ui_mouse(&replay.ui, ROWS, COLUMNS, y, x, event);
}

START_TEST(a_click_puts_focus_and_cursor)
{
    point("epochs    ", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.focus, PANEL_FORM);
    ck_assert_int_eq(replay.ui.form.field, FORM_EPOCHS);
    ck_assert_ptr_null(replay.ui.prompt);
    point("Runs", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.focus, PANEL_RUNS);
    ck_assert_int_eq(replay.ui.selected_run, 0);
    const struct state_run *run = ui_run_line(&replay.ui, 1);
    int y, x;
    find("Runs", &y, &x);
    ui_mouse(&replay.ui, ROWS, COLUMNS, y + 2, 5, MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.selected_run, run->run);
    point("Test accuracy", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.focus, PANEL_CHART);
}
END_TEST

START_TEST(a_click_on_a_device_chooses_it)
{
    point("cpu:1", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.focus, PANEL_DEVICES);
    ck_assert_int_eq(replay.ui.device_line, 1);
    point("cpu:0", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.device_line, 0);
}
END_TEST

START_TEST(a_second_click_is_enter)
{
    point("epochs    ", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.form.field, FORM_EPOCHS);
    point("epochs    ", MOUSE_DOUBLE);
    ck_assert(prompt_in_view(&replay.ui));
    replay_keys(&replay, "77<Enter>");
    ck_assert_int_eq(replay.ui.form.spec.epochs, 77);
    /* Where there is no line it does nothing. */
    point("Test accuracy", MOUSE_CLICK);
    point("Test accuracy", MOUSE_DOUBLE);
    ck_assert_ptr_null(replay.ui.prompt);
}
END_TEST

START_TEST(titles_sort_the_runs)
{
    replay_end(&replay);
    replay_begin(&replay);
    replay_recording(&replay, "runs", 0);
    replay_view(&replay, VIEW_RUNS);
    const struct run_list *list = &replay.ui.list;
    long selected = replay.ui.selected_run;
    point("test acc", MOUSE_CLICK);
    ck_assert_int_eq(list->column, RUN_COLUMN_TEST_ACC);
    ck_assert(!list->ascending);
    /* Below the run that is running. */
    ck_assert_int_eq(run_list_run(list, &replay.ui.state, 1)->run, 1);
    /* A quick second click is no Enter. */
    point("test acc v", MOUSE_DOUBLE);
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    ck_assert(list->ascending);
    ck_assert_int_eq(run_list_run(list, &replay.ui.state, 1)->run, 10);
    point("s/epoch", MOUSE_CLICK);
    ck_assert_int_eq(list->column, RUN_COLUMN_S_PER_EPOCH);
    ck_assert_int_eq(replay.ui.selected_run, selected);
    /* A line is still one. */
    point("0.829", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.selected_run, 16);
    point("queued 1", MOUSE_DOUBLE);
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
}
END_TEST

START_TEST(the_key_bar_can_be_clicked)
{
    point("s start", MOUSE_CLICK);
    ck_assert_msg(strncmp(replay_last(&replay), "submit", 6) == 0, "%s", replay_last(&replay));
    point("? help", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.view, VIEW_HELP);
    point("back", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    /* Between two entries there is nothing. */
    int y, x, before = replay.asked_count;
    find("s start", &y, &x);
    ui_mouse(&replay.ui, ROWS, COLUMNS, y, x + 7, MOUSE_CLICK);
    ck_assert_int_eq(replay.asked_count, before);
    ui_mouse(&replay.ui, ROWS, COLUMNS, y, x + 6, MOUSE_CLICK);
    ck_assert_int_gt(replay.asked_count, before);
}
END_TEST

START_TEST(a_question_is_answered_in_the_bar_alone)
{
    replay_keys(&replay, "S+q");
    replay_keys(&replay, "q");
    ck_assert_ptr_nonnull(replay.ui.question);
    enum panel focus = replay.ui.focus;
    point("epochs    ", MOUSE_CLICK);
    point("epochs    ", MOUSE_DOUBLE);
    point("epochs    ", MOUSE_WHEEL_DOWN);
    ck_assert_ptr_nonnull(replay.ui.question);
    ck_assert_int_eq(replay.ui.focus, focus);
    point("n no", MOUSE_CLICK);
    ck_assert_ptr_null(replay.ui.question);
    ck_assert(!replay.ui.quit);
}
END_TEST

START_TEST(the_wheel_walks_and_zooms)
{
    point("epochs    ", MOUSE_WHEEL_DOWN);
    ck_assert_int_eq(replay.ui.focus, PANEL_FORM);
    ck_assert_int_eq(replay.ui.form.field, FORM_DATA);
    point("epochs    ", MOUSE_WHEEL_UP);
    ck_assert_int_eq(replay.ui.form.field, FORM_MODEL);
    point("Test accuracy", MOUSE_WHEEL_UP);
    ck_assert_int_eq(replay.ui.focus, PANEL_CHART);
    ck_assert_int_eq(replay.ui.form.field, FORM_MODEL);
    replay_keys(&replay, "S");
    ui_mouse(&replay.ui, ROWS, COLUMNS, 5, 5, MOUSE_WHEEL_DOWN);
    ck_assert_int_eq(replay.ui.line, 1);
    ui_mouse(&replay.ui, ROWS, COLUMNS, 5, 5, MOUSE_WHEEL_UP);
    ck_assert_int_eq(replay.ui.line, 0);
}
END_TEST

START_TEST(other_pages_have_lines_too)
{
    replay_keys(&replay, "S");
    point("palette", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.line, 2);
    point("palette", MOUSE_DOUBLE);
    ck_assert(prompt_in_view(&replay.ui));
    replay_keys(&replay, "<Esc>");
    point("value", MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.line, 2);
    replay_keys(&replay, "R");
    const struct state_run *run = ui_run_line(&replay.ui, 1);
    int y, x;
    find("speed-up", &y, &x);
    ui_mouse(&replay.ui, ROWS, COLUMNS, y + 2, 4, MOUSE_CLICK);
    ck_assert_int_eq(replay.ui.selected_run, run->run);
    ui_mouse(&replay.ui, ROWS, COLUMNS, y + 2, 4, MOUSE_DOUBLE);
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
}
END_TEST

START_TEST(a_comparison_has_lines)
{
    replay_keys(&replay, "C");
    long before = replay.ui.selected_run;
    for (int y = 0; y < ROWS; y++) {
        ui_mouse(&replay.ui, ROWS, COLUMNS, y, 3, MOUSE_CLICK);
        if (replay.ui.view != VIEW_COMPARE)
            replay_keys(&replay, "C");
        if (replay.ui.picked && replay.ui.selected_run != before)
            return;
    }
    ck_abort_msg("no line could be clicked");
}
END_TEST

START_TEST(actions_are_picked_from_the_palette)
{
    replay_keys(&replay, ":settings");
    point("how the screen looks", MOUSE_CLICK);
    point("how the screen looks", MOUSE_DOUBLE);
    ck_assert_int_eq(replay.ui.view, VIEW_SETTINGS);
    ck_assert_ptr_null(replay.ui.prompt);
    replay_keys(&replay, ":");
    ui_mouse(&replay.ui, ROWS, COLUMNS, 15, 10, MOUSE_WHEEL_DOWN);
    ck_assert_int_eq(replay.ui.choice, 1);
}
END_TEST

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

START_TEST(no_click_does_harm)
{
    static const char *const keys[] = {"",  "R", "C",       "L",     "S", "?", ":",
                                       "x", "q", "<Enter>", "<Esc>", "D", "n", "<Tab>"};
    unsigned seed = 99;
    for (int i = 0; i < 4000; i++) {
        int rows = 1 + (int)(next_random(&seed) % 60);
        int columns = 1 + (int)(next_random(&seed) % 200);
        ui_mouse(&replay.ui, rows, columns, (int)(next_random(&seed) % 62) - 1,
                 (int)(next_random(&seed) % 202) - 1, (enum mouse_event)(next_random(&seed) % 4));
        replay_keys(&replay, keys[next_random(&seed) % (sizeof keys / sizeof keys[0])]);
        replay.ui.quit = false;
    }
    free(replay_screen(&replay, ROWS, COLUMNS, true));
}
END_TEST

START_TEST(pasted_text_is_text)
{
    replay_keys(&replay, "S");
    replay.ui.line = 7; /* train.model */
    replay_keys(&replay, "<Enter>");
    ui_paste(&replay.ui, "\n /a folder/q\tx.conf\x01\x15\x7f\r\n\n");
    ck_assert_str_eq(replay.ui.editor.text, "/a folder/q x.conf");
    ck_assert(prompt_in_view(&replay.ui));
    ui_paste(&replay.ui, "\xe2\x82\xac");
    ck_assert_str_eq(replay.ui.editor.text, "/a folder/q x.conf\xe2\x82\xac");
}
END_TEST

START_TEST(pasted_text_is_no_keys)
{
    int before = replay.asked_count;
    ui_paste(&replay.ui, "sxq\n");
    ck_assert_int_eq(replay.asked_count, before);
    ck_assert(!replay.ui.quit);
    ck_assert_ptr_null(replay.ui.question);
    ck_assert_str_eq(replay.ui.message.text, "pasted text is only taken where a value is typed");
    replay_keys(&replay, "S+qq");
    ck_assert_ptr_nonnull(replay.ui.question);
    ui_paste(&replay.ui, "y");
    ck_assert_ptr_nonnull(replay.ui.question);
    ck_assert(!replay.ui.quit);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mouse");
    TCase *tests = tcase_create("mouse");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_click_puts_focus_and_cursor);
    tcase_add_test(tests, a_click_on_a_device_chooses_it);
    tcase_add_test(tests, a_second_click_is_enter);
    tcase_add_test(tests, the_key_bar_can_be_clicked);
    tcase_add_test(tests, titles_sort_the_runs);
    tcase_add_test(tests, a_question_is_answered_in_the_bar_alone);
    tcase_add_test(tests, the_wheel_walks_and_zooms);
    tcase_add_test(tests, other_pages_have_lines_too);
    tcase_add_test(tests, a_comparison_has_lines);
    tcase_add_test(tests, actions_are_picked_from_the_palette);
    tcase_add_test(tests, no_click_does_harm);
    tcase_add_test(tests, pasted_text_is_text);
    tcase_add_test(tests, pasted_text_is_no_keys);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

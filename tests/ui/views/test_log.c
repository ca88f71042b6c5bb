/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/replay.h"
#include "ui/control/control.h"
#include "ui/control/engine.h"
#include "ui/draw/key.h"
#include "ui/state/log.h"

static struct replay replay;

static void begin(void)
{
    setenv("TZ", "UTC0", 1);
    replay_begin(&replay);
    ui_connected(&replay.ui);
}

static void end(void)
{
    replay_end(&replay);
}

static bool on_screen(const char *text)
{
    char *screen = replay_screen(&replay, 24, 80, false);
    bool there = strstr(screen, text) != NULL;
    free(screen);
    return there;
}

/* A message of the engine, a second after the one before. */
static void say(int number)
{
    char *line =
        format("{\"method\":\"log\",\"params\":{\"time\":%d,\"level\":\"%s\",\"run\":%d,"
               "\"text\":\"message <%d>\"}}",
               1763650000 + number, number % 10 == 7 ? "warning" : "info", number % 3, number);
    replay_line(&replay, line);
    free(line);
}

static void say_many(int from, int to)
{
    for (int i = from; i <= to; i++)
        say(i);
}

START_TEST(opening_asks_for_what_was_said_before)
{
    replay_keys(&replay, "L");
    ck_assert_str_eq(replay.asked[replay.asked_count - 2], "log {\"limit\":500}");
    replay_keys(&replay, "q");
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    ui_disconnected(&replay.ui, LINK_LOST, "gone");
    int asked = replay.asked_count;
    replay_keys(&replay, "L");
    ck_assert_int_eq(replay.asked_count, asked);
    ck_assert_str_eq(replay.ui.message.text, "");
    /* An engine that comes has something to say. */
    ui_connected(&replay.ui);
    ck_assert_str_eq(replay_last(&replay), "log {\"limit\":500}");
}
END_TEST

START_TEST(the_newest_is_at_the_bottom)
{
    say_many(1, 100);
    replay_keys(&replay, "L");
    ck_assert(on_screen("message <100>"));
    ck_assert(on_screen("message <81>"));
    ck_assert(!on_screen("message <80>"));
    ck_assert(!on_screen("newer"));
    say(101);
    ck_assert(on_screen("message <101>"));
    ck_assert(on_screen("101 of 101: message <101>"));
}
END_TEST

START_TEST(who_reads_older_ones_keeps_them)
{
    say_many(1, 100);
    replay_keys(&replay, "L");
    ui_key(&replay.ui, KEYCODE_PAGE_UP);
    ui_key(&replay.ui, KEYCODE_PAGE_UP);
    ui_key(&replay.ui, KEYCODE_PAGE_UP);
    ck_assert(on_screen("70 of 100: message <70>"));
    ck_assert(on_screen("21 newer"));
    char *before = replay_screen(&replay, 24, 80, false);
    say_many(101, 112);
    ck_assert(on_screen("70 of 112: message <70>"));
    ck_assert(on_screen("33 newer"));
    char *after = replay_screen(&replay, 24, 80, false);
    /* Only the count in the heading and in the status line changes. */
    char *first = strchr(strchr(before, '\n') + 1, '\n');
    char *second = strchr(strchr(after, '\n') + 1, '\n');
    *strstr(first, "70 of") = *strstr(second, "70 of") = '\0';
    ck_assert_str_eq(first, second);
    free(before);
    free(after);
    replay_keys(&replay, "<Home>");
    ck_assert(on_screen("1 of 112: message <1>"));
    replay_keys(&replay, "<Up><Down><Down>");
    ck_assert(on_screen("3 of 112: message <3>"));
    replay_keys(&replay, "<End>");
    ck_assert(on_screen("112 of 112: message <112>"));
    say(113);
    ck_assert(on_screen("113 of 113: message <113>"));
}
END_TEST

START_TEST(the_filter_acts_while_it_is_typed)
{
    say_many(1, 100);
    replay_keys(&replay, "L/WARN");
    ck_assert(on_screen("10 of 100 with: WARN"));
    ck_assert(on_screen("message <97>"));
    ck_assert(!on_screen("message <96>"));
    replay_keys(&replay, " 2");
    ck_assert(on_screen("message <27>"));
    ck_assert(!on_screen("message <37>"));
    replay_keys(&replay, "<Enter><Up>");
    ck_assert(on_screen("message <27>"));
    /* What does not pass does not count as newer, either. */
    int back = replay.ui.log.back;
    say(101);
    ck_assert_int_eq(replay.ui.log.back, back);
    replay_keys(&replay, "/<Esc>");
    ck_assert_str_eq(replay.ui.log.filter, "");
    ck_assert(on_screen("message <101>"));
}
END_TEST

START_TEST(words_in_any_order_and_case)
{
    static char text[] = "cuda:2: the GPU has fallen off the bus";
    struct log_line line = {.level = LOG_ERROR, .run = 12, .text = text};
    ck_assert(log_matches(&line, ""));
    ck_assert(log_matches(&line, "  "));
    ck_assert(log_matches(&line, "BUS gpu"));
    ck_assert(log_matches(&line, "error 12 fallen "));
    ck_assert(log_matches(&line, "run 12"));
    ck_assert(log_matches(&line, "error run 12 gpu"));
    ck_assert(!log_matches(&line, "run 13"));
    /* Not every message with a 1 in it. */
    ck_assert(!log_matches(&line, "run 1"));
    ck_assert(log_matches(&line, "run gpu"));
    ck_assert(!log_matches(&line, "gpu warning"));
}
END_TEST

START_TEST(the_workbench_tells_of_the_engine)
{
    struct error refusal = {ERROR_USAGE, "batch 13 is unlucky"};
    ui_answer(&replay.ui, REQUEST_SUBMIT, NULL, &refusal);
    ui_disconnected(&replay.ui, LINK_LOST, "the engine is gone");
    ui_disconnected(&replay.ui, LINK_LOST, "the engine is gone");
    replay.ui.link = LINK_STARTING; /* as link.c says when the user asks for one */
    ui_connected(&replay.ui);
    replay_keys(&replay, "L");
    ck_assert_int_eq(replay.ui.state.log_count, 3);
    ck_assert(on_screen("submit was refused: batch 13 is unlucky"));
    ck_assert(on_screen("warning        the engine is gone"));
    ck_assert(on_screen("info           connected to an engine again"));
}
END_TEST

START_TEST(its_list_joins_what_is_here)
{
    static const char list[] =
        "[{\"time\":20,\"text\":\"c\"},{\"time\":30,\"text\":\"d\"},{\"time\":50,\"text\":\"f\"}]";
    struct state *state = &replay.ui.state;
    struct error err = ERROR_INIT;
    char order[16] = "";
    /* Of an engine before, of this one, and the workbench's own. */
    replay_line(&replay, "{\"method\":\"log\",\"params\":{\"time\":10,\"text\":\"a\"}}");
    ck_assert(state_log_local(state, 15, LOG_INFO, "b", &err));
    replay_line(&replay, "{\"method\":\"log\",\"params\":{\"time\":30,\"text\":\"d\"}}");
    ck_assert(state_log_local(state, 40, LOG_INFO, "e", &err));
    ck_assert(state_log_local(state, 60, LOG_INFO, "g", &err));
    json_t *result = json_loads(list, 0, NULL);
    for (int twice = 0; twice < 2; twice++) {
        ck_assert(state_log(state, result, &err));
        order[0] = '\0';
        for (int i = 0; i < state->log_count; i++)
            strcat(order, state->log[i].text);
        ck_assert_str_eq(order, "abcdefg");
    }
    json_decref(result);
    /* A young engine has nothing to say. */
    result = json_array();
    ck_assert(state_log(state, result, &err));
    json_decref(result);
    ck_assert_int_eq(state->log_count, 7);
}
END_TEST

START_TEST(the_log_drops_the_oldest)
{
    say_many(1, STATE_MAX_LOG);
    replay_keys(&replay, "L<Home>");
    ck_assert(on_screen("message <1>"));
    say_many(STATE_MAX_LOG + 1, 2 * STATE_MAX_LOG + 5);
    ck_assert_int_eq(replay.ui.state.log_count, STATE_MAX_LOG);
    ck_assert(on_screen("1 of 500: message <506>"));
}
END_TEST

START_TEST(a_long_message_has_several_lines)
{
    replay_line(&replay, "{\"method\":\"log\",\"params\":{\"time\":1,\"text\":\"a message that is "
                         "far too long for one line of a terminal with eighty columns and has to "
                         "go on in the next one, until its end\"}}");
    replay_keys(&replay, "L");
    ck_assert(on_screen("until its end\n"));
    ck_assert(on_screen("1970-01-01"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log view");
    TCase *tests = tcase_create("log view");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, opening_asks_for_what_was_said_before);
    tcase_add_test(tests, the_newest_is_at_the_bottom);
    tcase_add_test(tests, who_reads_older_ones_keeps_them);
    tcase_add_test(tests, the_filter_acts_while_it_is_typed);
    tcase_add_test(tests, words_in_any_order_and_case);
    tcase_add_test(tests, the_workbench_tells_of_the_engine);
    tcase_add_test(tests, its_list_joins_what_is_here);
    tcase_add_test(tests, the_log_drops_the_oldest);
    tcase_add_test(tests, a_long_message_has_several_lines);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

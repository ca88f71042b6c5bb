/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/support.h"
#include "tests/ui/replay.h"
#include "ui/keys/actions.h"
#include "ui/keys/keymap.h"
#include "ui/session/view.h"

/* Names of keys, keys of one's own, and the two places that show them: help and palette. */

static struct replay replay;
static struct keymap *map;
static struct error err;

static void begin(void)
{
    replay_begin(&replay);
    map = &replay.ui.keymap;
    err = (struct error)ERROR_INIT;
}

static void end(void)
{
    replay_end(&replay);
}

START_TEST(names_of_keys_go_both_ways)
{
    static const struct {
        int key;
        const char *name;
    } cases[] = {
        {'s', "s"},         {'S', "S"},
        {'?', "?"},         {' ', "Space"},
        {KEYCODE_F1, "F1"}, {KEYCODE_F1 + 11, "F12"},
        {12, "Ctrl-L"},     {KEYCODE_BACKTAB, "Shift-Tab"},
        {0xe9, "\xc3\xa9"}, {KEYCODE_PAGE_DOWN, "PageDown"},
        {'F', "F"},         {KEYCODE_ESCAPE, "Esc"},
    };
    static const char *const none[] = {"",
                                       "ss",
                                       "F0",
                                       "F13",
                                       "F1x",
                                       "Ctrl-",
                                       "Ctrl-l",
                                       "\xff",
                                       "space",
                                       "Hyper-x",
                                       "a-name-that-is-far-too-long"};
    char buffer[KEY_NAME_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_str_eq(key_text(cases[i].key, buffer), cases[i].name);
        ck_assert_int_eq(key_of_name(cases[i].name, strlen(cases[i].name)), cases[i].key);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert_msg(key_of_name(none[i], strlen(none[i])) == KEYCODE_NONE, "'%s'", none[i]);
}
END_TEST

START_TEST(every_built_in_key_has_a_name)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    char buffer[KEY_NAME_SIZE];
    ck_assert_uint_le(count, ACTION_ENTRIES);
    ck_assert_msg(keymap_check(map, &err), "%s", err.text);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(table[i].name, table[j].name);
        for (int k = 0; k < ACTION_KEYS && table[i].key[k] != 0; k++) {
            const char *name = key_text(table[i].key[k], buffer);
            ck_assert_int_eq(key_of_name(name, strlen(name)), table[i].key[k]);
        }
    }
}
END_TEST

START_TEST(keys_of_ones_own)
{
    ck_assert(keymap_bind(map, "start", " F11  B ", &err));
    ck_assert(keymap_bind(map, "pause", "s", &err));
    ck_assert_msg(keymap_check(map, &err), "%s", err.text);
    ck_assert_int_eq(keymap_action(map, CONTEXT_FORM, 'B'), ACTION_START);
    ck_assert_int_eq(keymap_action(map, CONTEXT_FORM, KEYCODE_F1 + 10), ACTION_START);
    ck_assert_int_eq(keymap_action(map, CONTEXT_FORM, 's'), ACTION_PAUSE);
    ck_assert_int_eq(keymap_action(map, CONTEXT_FORM, 'p'), ACTION_NONE);
    ck_assert_int_eq(keymap_action(map, CONTEXT_HELP, 's'), ACTION_NONE);
    /* One without keys has none, and is no error. */
    ck_assert(keymap_bind(map, "pause", "", &err));
    ck_assert(keymap_check(map, &err));
    ck_assert_int_eq(keymap_action(map, CONTEXT_FORM, 's'), ACTION_NONE);
    /* The name in configurations of earlier versions. */
    ck_assert(keymap_bind(map, "go-on", "F11", &err));
    ck_assert_int_eq(keymap_action(map, CONTEXT_RUN, KEYCODE_F1 + 10), ACTION_RESUME);
}
END_TEST

START_TEST(keys_that_never_arrive_are_refused)
{
    static const char *const keys[] = {"Ctrl-Z", "F5 Ctrl-C", "Ctrl-H", "Ctrl-M"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        ck_assert_msg(!keymap_bind(map, "start", keys[i], &err), "%s", keys[i]);
        ck_assert_ptr_nonnull(strstr(err.text, "take another key"));
    }
    ck_assert(keymap_bind(map, "leave", "Ctrl-C q", &err));
    ck_assert(keymap_bind(map, "start", "Ctrl-S Ctrl-Q", &err));
}
END_TEST

START_TEST(they_are_what_the_screen_says)
{
    replay_recording(&replay, "idle", 0);
    ck_assert(keymap_bind(map, "start", "B", &err));
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(screen, "B start"));
    ck_assert_ptr_null(strstr(screen, "s start"));
    free(screen);
    replay_keys(&replay, "?");
    screen = replay_screen(&replay, 60, 80, true);
    ck_assert_ptr_nonnull(strstr(screen, "B           start           start the next run"));
    free(screen);
    replay_keys(&replay, "qB");
    ck_assert_int_eq(strncmp(replay_last(&replay), "submit", 6), 0);
}
END_TEST

START_TEST(the_help_scrolls_and_comes_back)
{
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "R?");
    char *top = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(top, "To start with"));
    ck_assert_ptr_nonnull(strstr(top, "> !         device: it trains now; others"));
    ck_assert_ptr_nonnull(strstr(top, "1.8x #12    run: speed-up against run 12"));
    replay_keys(&replay, "<PageDown>");
    char *keys = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(keys, "sort            runs: sort by the next column"));
    free(keys);
    replay_keys(&replay, "<End><Up><Down>");
    char *bottom = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(bottom, "keep the old value"));
    replay_keys(&replay, "<Up><Home>");
    char *again = replay_screen(&replay, 24, 80, true);
    ck_assert_str_eq(again, top);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    free(again);
    free(bottom);
    free(top);
}
END_TEST

START_TEST(an_unknown_action_has_its_nearest)
{
    ck_assert(!keymap_bind(map, "strat", "s", &err));
    ck_assert_str_eq(err.text,
                     "there is no action 'strat': did you mean 'start'? (the help page names all)");
    ck_assert(!keymap_bind(map, "frobnicate", "s", &err));
    ck_assert_str_eq(err.text, "there is no action 'frobnicate' (the help page names all)");
}
END_TEST

/* At 80 columns nothing is cut. */
START_TEST(the_help_names_the_actions)
{
    size_t count;
    const struct action_entry *table = actions_table(&count);
    replay_recording(&replay, "idle", 0);
    replay_keys(&replay, "?");
    char *screen = replay_screen(&replay, 160, 80, true);
    for (size_t i = 0; i < count; i++) {
        char *line = format("%-15s %s\n", table[i].name, table[i].description);
        ck_assert_msg(strstr(screen, line), "%s", line);
        free(line);
    }
    free(screen);
}
END_TEST

START_TEST(the_palette_knows_other_words)
{
    static const struct {
        const char *typed, *found;
    } cases[] = {
        {"lr", "change the learning rate of the run"},
        {"colour", "how the screen looks"},
        {"theme", "how the screen looks"},
        {"resume", "resume this one from its"},
        {"export", "write this screen to a text"},
        {"search", "show only lines with a word"},
    };
    replay_recording(&replay, "runs", 0);
    replay_keys(&replay, "R<Down><Down><Down>");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        replay_keys(&replay, i == 0 ? "<Esc>:" : ":");
        replay_keys(&replay, cases[i].typed);
        char *screen = replay_screen(&replay, 24, 80, true);
        ck_assert_msg(strstr(screen, cases[i].found) != NULL, "%s:\n%s", cases[i].typed, screen);
        free(screen);
        replay_keys(&replay, i == 0 ? "<Esc>R" : "<Esc>");
    }
}
END_TEST

START_TEST(the_palette_finds_and_does)
{
    replay_recording(&replay, "train-2", 0);
    replay_keys(&replay, ":paus");
    char *screen = replay_screen(&replay, 24, 80, true);
    ck_assert_ptr_nonnull(strstr(screen, "pause the run after"));
    free(screen);
    replay_keys(&replay, "<Enter>");
    ck_assert_str_eq(replay_last(&replay), "pause {\"run\":2}");
    ck_assert_ptr_null(replay.ui.prompt);
    /* By its description, and with the second of two. */
    replay_keys(&replay, ":device count<Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_COMPARE);
    replay_keys(&replay, "<Esc>:run");
    replay_keys(&replay, "<Down><Up><Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    replay_keys(&replay, "<Esc>:no such thing<Enter>");
    ck_assert(replay.ui.message.bad);
    ck_assert_ptr_nonnull(replay.ui.prompt);
    replay_keys(&replay, "<Esc>");
    ck_assert_ptr_null(replay.ui.prompt);
    /* What cannot be done now is not on offer. */
    replay_keys(&replay, ":start an engine<Enter>");
    ck_assert(replay.ui.message.bad && !replay.ui.want_engine);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keymap");
    TCase *tests = tcase_create("keymap");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, names_of_keys_go_both_ways);
    tcase_add_test(tests, every_built_in_key_has_a_name);
    tcase_add_test(tests, keys_of_ones_own);
    tcase_add_test(tests, keys_that_never_arrive_are_refused);
    tcase_add_test(tests, they_are_what_the_screen_says);
    tcase_add_test(tests, the_help_scrolls_and_comes_back);
    tcase_add_test(tests, an_unknown_action_has_its_nearest);
    tcase_add_test(tests, the_help_names_the_actions);
    tcase_add_test(tests, the_palette_knows_other_words);
    tcase_add_test(tests, the_palette_finds_and_does);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/runs_fixture.h"
#include "ui/control/engine.h"

/* What the workbench says: of keys, of the engine and its end. */

static void connect_to(const char *answer)
{
    json_t *result = json_loads(answer, 0, NULL);
    ui_connected(&replay.ui);
    ui_answer(&replay.ui, REQUEST_WATCH, result, NULL);
    json_decref(result);
}

START_TEST(a_crash_is_told_of)
{
    json_t *runs = json_loads("[{\"run\":3,\"status\":\"interrupted\",\"error\":\"killed\"},"
                              "{\"run\":4,\"status\":\"interrupted\",\"error\":\"killed\"}]",
                              0, NULL);
    connect_to("{\"interrupted\":[3,4]}");
    expect_message("2 runs were interrupted: R lists them, and there a resumes one");
    replay_keys(&replay, "<Down>");
    /* Such runs in the list are no news: who connects again has heard of them. */
    connect_to("{}");
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    expect_message("");
    expect_on_screen("interrupted", true);
    connect_to("{\"interrupted\":[4]}");
    expect_message("run 4 was interrupted: R lists it, and there a resumes it");
    json_decref(runs);
}
END_TEST

START_TEST(lost_runs_do_not_run)
{
    ui_disconnected(&replay.ui, LINK_LOST, "gone");
    expect_on_screen("running", false);
    expect_on_screen("queued", false);
    expect_on_screen("lost?", true);
    replay_keys(&replay, "<Down><Down>X");
    expect_message("there is no engine that could do that");
    replay_keys(&replay, "D");
    expect_on_screen("running", false);
    expect_on_screen("lost?", true);
}
END_TEST

START_TEST(another_engine_has_other_curves)
{
    json_t *runs =
        json_pack("[{s:i, s:s, s:f}, {s:i, s:s}, {s:i, s:s}]", "run", 4, "status", "done",
                  "submitted_at", 1.0, "run", 2, "status", "done", "run", 2, "status", "done");
    ck_assert_int_eq(state_run(&replay.ui.state, 4)->point_count, 4);
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    json_decref(runs);
    ck_assert_int_eq(state_run(&replay.ui.state, 4)->point_count, 0);
    /* Out of order and twice does no harm either. */
    ck_assert_int_eq(replay.ui.state.run_count, 2);
    ck_assert_int_eq(replay.ui.state.runs[0].run, 2);
}
END_TEST

START_TEST(a_key_without_a_meaning_says_so)
{
    struct error err = ERROR_INIT;
    replay_keys(&replay, "s");
    expect_message("s does nothing here; ? shows the keys that do");
    replay_keys(&replay, "j");
    expect_message("");
    replay_keys(&replay, "e");
    expect_message("the engine is there already");
    replay_keys(&replay, "D<Shift-Tab>0");
    expect_message("all epochs are in sight");
    replay_keys(&replay, "g");
    expect_message("nothing is suggested: choose other devices or another batch first");
    replay_keys(&replay, "<Esc>");
    expect_message("");
    ck_assert(keymap_bind(&replay.ui.keymap, "help", "F9", &err));
    replay_keys(&replay, "Z");
    expect_message("Z does nothing here; F9 shows the keys that do");
    ck_assert(keymap_bind(&replay.ui.keymap, "help", "", &err));
    replay_keys(&replay, "Z");
    expect_message("Z does nothing here");
    /* In a question and in a text other keys are none of these. */
    replay_keys(&replay, "R<End>X");
    ck_assert_ptr_nonnull(replay.ui.question);
    replay_keys(&replay, "Z");
    expect_message("");
}
END_TEST

START_TEST(a_silent_engine_is_seen)
{
    struct ui *ui = &replay.ui;
    ui_say(ui, false, "run 7 trains");
    ui_silence(ui);
    expect_on_screen("engine silent", true);
    expect_on_screen("does not answer: what is shown is old.", true);
    expect_on_screen("run 7 trains", false);
    ui_connected(ui);
    expect_on_screen("engine silent", false);
    ui_silence(ui);
    ui_say(ui, false, "run 7 trains");
    ui_disconnected(ui, LINK_LOST, "the engine is gone");
    expect_on_screen("engine silent", false);
    expect_on_screen("run 7 trains", false);
    expect_on_screen("the engine is gone", true);
}
END_TEST

/* What is typed stays, though the run has ended: as keys it would do anything. */
START_TEST(what_is_typed_stays_a_text)
{
    struct ui *ui = &replay.ui;
    replay_recording(&replay, "train-2", 0);
    const long run = ui->state.live.run;
    json_t *event =
        json_pack("{s:s, s:I, s:s}", "event", "end", "run", (json_int_t)run, "status", "done");
    json_t *message = json_pack("{s:s, s:O}", "method", "event", "params", event);
    ck_assert_int_gt(run, 0);
    replay_keys(&replay, "n2");
    ck_assert_ptr_nonnull(ui->prompt);
    ui_notification(ui, message);
    ck_assert_ptr_nonnull(ui->prompt);
    char said[80], typed[80];
    snprintf(said, sizeof said, "run %ld is done\nEpochs of run %ld: 2 ", run, run);
    char *screen = replay_screen(&replay, 24, 80, false);
    ck_assert_ptr_nonnull(strstr(screen, said));
    ck_assert_ptr_nonnull(strstr(screen, "in all, those done included"));
    free(screen);
    replay_keys(&replay, "0");
    snprintf(typed, sizeof typed, "\nEpochs of run %ld: 20 ", run);
    expect_on_screen(typed, true);
    json_decref(message);
    json_decref(event);
}
END_TEST

START_TEST(a_long_message_is_readable_to_its_end)
{
    ui_say(&replay.ui, true, "%s, %s, %s, %s and then %s", "a folder that is not there",
           "another folder that is not there either", "a third one", "a fourth one", "the advice");
    char *screen = replay_screen(&replay, 24, 40, false);
    ck_assert_ptr_nonnull(strstr(screen, "\na folder that is not there, another\n"
                                         "folder that is not there either, a third\n"
                                         "one, a fourth one and then the advice\n"));
    free(screen);
    /* The first line stays. */
    screen = replay_screen(&replay, 4, 20, false);
    ck_assert_ptr_eq(strstr(screen, "a folder"), strchr(screen, '\n') + 1);
    free(screen);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("said");
    TCase *tests = runs_case("ui said");
    tcase_add_test(tests, a_crash_is_told_of);
    tcase_add_test(tests, lost_runs_do_not_run);
    tcase_add_test(tests, another_engine_has_other_curves);
    tcase_add_test(tests, a_key_without_a_meaning_says_so);
    tcase_add_test(tests, a_silent_engine_is_seen);
    tcase_add_test(tests, what_is_typed_stays_a_text);
    tcase_add_test(tests, a_long_message_is_readable_to_its_end);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

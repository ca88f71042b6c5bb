/* SPDX-License-Identifier: MIT */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/replay.h"
#include "tests/suites.h"
#include "tests/support.h"

/* The list of all runs and the details of one, by keys and messages. */

static struct replay replay;

static void begin(void)
{
    ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
    replay_begin(&replay);
    replay_recording(&replay, "runs", 0);
    replay_keys(&replay, "R");
}

static void end(void)
{
    replay_end(&replay);
}

static void expect_selected(long run)
{
    ck_assert_int_eq(replay.ui.selected_run, run);
}

static void expect_message(const char *text)
{
    ck_assert_str_eq(replay.ui.message.text, text);
}

static void expect_on_screen(const char *text, bool wanted)
{
    char *screen = replay_screen(&replay, 50, 200, false);

    ck_assert_msg((strstr(screen, text) != NULL) == wanted, "'%s' is %s the screen:\n%s", text,
                  wanted ? "not on" : "on", screen);
    free(screen);
}

/* The list as it was, without one of its runs. */
static void forget(long run)
{
    json_t *runs = json_array();

    for (int i = 0; i < replay.ui.state.run_count; i++)
        if (replay.ui.state.runs[i].run != run)
            json_array_append_new(runs, json_pack("{s:I, s:s, s:f}", "run",
                                                  (json_int_t)replay.ui.state.runs[i].run, "status",
                                                  run_status_name(replay.ui.state.runs[i].status),
                                                  "batch", replay.ui.state.runs[i].batch));
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    json_decref(runs);
}

START_TEST(the_selection_survives)
{
    expect_selected(20);
    replay_keys(&replay, "<Down><Down><Down><Down>");
    expect_selected(16);
    replay_keys(&replay, "oooO");
    expect_selected(16);
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,"
                         "\"epoch\":6,\"test_acc\":0.99}}");
    expect_selected(16);
    /* Hidden by a filter it cannot be acted on; without the filter it is there again. */
    replay_keys(&replay, "/resnet");
    expect_selected(20);
    replay_keys(&replay, "<Esc>");
    expect_selected(16);
    ck_assert_str_eq(replay.ui.list.filter, "");
    replay_keys(&replay, "<Home>");
    long first = replay.ui.selected_run;
    replay_keys(&replay, "<Up>");
    expect_selected(first);
}
END_TEST

START_TEST(a_filter_acts_while_it_is_typed)
{
    replay_keys(&replay, "/resnet18 acc>0.8");
    expect_on_screen("6 of 20 runs match", true);
    replay_keys(&replay, "6<Enter>");
    expect_on_screen("3 of 20 runs match resnet18 acc>0.86", true);
    replay_keys(&replay, "/ nothing");
    expect_on_screen("no run matches the filter", true);
    expect_selected(0);
    replay_keys(&replay, "<Enter>X");
    ck_assert_ptr_null(replay.ui.question);
    expect_message("no run is selected");
    replay_keys(&replay, "/<Esc>");
    expect_on_screen("20 runs, by number, newest first", true);
    ck_assert(replay.ui.selected_run != 0);
}
END_TEST

START_TEST(marks_show_and_go)
{
    replay_keys(&replay, " ");
    expect_message("run 20 waits: it has no curve yet");
    replay_keys(&replay, "<Down><Down> ");
    ck_assert(ui_is_marked(&replay.ui, 18));
    expect_on_screen("*18", true);
    expect_on_screen("1 marked *", true);
    replay_keys(&replay, "<Down> <Up> ");
    ck_assert(!ui_is_marked(&replay.ui, 18));
    ck_assert(ui_is_marked(&replay.ui, 17));
    /* A mark of a run that is gone would never go. */
    forget(17);
    ck_assert_int_eq(replay.ui.mark_count, 0);
}
END_TEST

START_TEST(the_oldest_mark_gives_way)
{
    replay_keys(&replay, "<Down><Down> <Down> <Down> <Down> <Down> <Down> <Down> <Down> <Down> ");
    ck_assert_int_eq(replay.ui.mark_count, UI_MARKS);
    ck_assert(!ui_is_marked(&replay.ui, 18));
    expect_message("run 10 is marked in place of run 18: 8 at most");
}
END_TEST

START_TEST(only_what_has_ended_is_deleted)
{
    replay_keys(&replay, "X");
    expect_message("run 20 has not ended: stop it first");
    replay_keys(&replay, "<Down><Down>X");
    expect_message("run 18 has not ended: stop it first");
    ck_assert_ptr_null(replay.ui.question);
    replay_keys(&replay, "<Down><Down>Xn");
    ck_assert_msg(strncmp(replay_last(&replay), "delete", 6) != 0, "%s", replay_last(&replay));
    replay_keys(&replay, "Xy");
    ck_assert_str_eq(replay_last(&replay), "delete {\"run\":16}");
    forget(16);
    /* The cursor keeps its line: the next older run. */
    expect_selected(15);
}
END_TEST

START_TEST(deleting_the_last_line_moves_up)
{
    replay_keys(&replay, "<End>");
    expect_selected(1);
    forget(1);
    expect_selected(2);
}
END_TEST

START_TEST(the_queue_moves)
{
    replay_keys(&replay, "J");
    expect_message("run 20 is the last of the queue already");
    replay_keys(&replay, "K");
    ck_assert_str_eq(replay_last(&replay), "move {\"run\":20,\"place\":0}");
    expect_message("run 20 is the next one");
    expect_on_screen("queued 1", true);
    ck_assert_int_eq(state_queue_place(&replay.ui.state, 19), 1);
    replay_keys(&replay, "KJ");
    ck_assert_str_eq(replay_last(&replay), "move {\"run\":20,\"place\":1}");
    replay_keys(&replay, "<Down><Down>K");
    expect_message("run 18 does not wait");
}
END_TEST

START_TEST(notes_are_written)
{
    char text[402];

    replay_keys(&replay, "<Down><Down>t");
    ck_assert_str_eq(replay.ui.editor.text, "lr lowered by hand");
    replay_keys(&replay, "so so<Enter>");
    ck_assert_str_eq(replay_last(&replay), "note {\"run\":18,\"text\":\"so so\"}");
    replay_keys(&replay, "t");
    memset(text, 'x', 401);
    text[401] = '\0';
    replay_keys(&replay, text);
    replay_keys(&replay, "<Enter>");
    expect_message("wants at most 400 bytes, these are 401");
    ck_assert_ptr_nonnull(replay.ui.prompt);
}
END_TEST

START_TEST(tags_are_written)
{
    char text[70];

    replay_keys(&replay, "<Down><Down>Tthesis,  warm<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "tag {\"run\":18,\"add\":[\"thesis\",\"warm\"],\"remove\":[]}");
    struct state_run *run = state_run(&replay.ui.state, 18);
    snprintf(run->tags, sizeof run->tags, "thesis warm");
    expect_on_screen("#thesis #warm lr lowered by hand", true);
    replay_keys(&replay, "T");
    ck_assert_str_eq(replay.ui.editor.text, "thesis warm");
    replay_keys(&replay, "warm cold warmer<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "tag {\"run\":18,\"add\":[\"cold\",\"warmer\"],\"remove\":[\"thesis\"]}");
    memset(text, 'x', 61);
    text[61] = '\0';
    replay_keys(&replay, "T");
    replay_keys(&replay, text);
    replay_keys(&replay, "<Enter>");
    expect_message("wants words of at most 60 bytes, this one has 61: xxxxxxxxxxxx...");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    replay_keys(&replay, "<Esc>T");
    for (int i = 0; i < 21; i++)
        replay_keys(&replay, "x ");
    replay_keys(&replay, "<Enter>");
    expect_message("wants at most 20 words, these are 21");
}
END_TEST

START_TEST(what_has_ended_goes_on)
{
    replay_keys(&replay, "<Down><Down>a");
    ck_assert_ptr_null(replay.ui.prompt);
    expect_message("run 18 has not ended");
    /* Stopped in its second epoch of four. */
    replay_keys(&replay, "/run=13<Enter>a");
    ck_assert_str_eq(replay.ui.editor.text, "4");
    replay_keys(&replay, "<Enter>");
    ck_assert_str_eq(replay_last(&replay), "submit {\"resume\":13,\"epochs\":4}");
    replay_keys(&replay, "a6 on cpu:0-1<Enter>");
    ck_assert_str_eq(replay_last(&replay),
                     "submit {\"resume\":13,\"epochs\":6,\"devices\":\"cpu:0-1\"}");
    replay_keys(&replay, "asome<Enter>");
    expect_message("wants a whole number from 1 to 1000000, such as 20 or 20 on cpu:0-1");
    replay_keys(&replay, "<Esc>a6 tpu:0<Enter>");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    ck_assert(replay.ui.message.bad);
    /* Nothing is left to do for one that is done, but for more epochs. */
    replay_keys(&replay, "<Esc>/run=4<Enter>a");
    ck_assert_str_eq(replay.ui.editor.text, "8");
    replay_keys(&replay, "4<Enter>");
    expect_message("it has done 4: give it more");
    ck_assert_ptr_nonnull(replay.ui.prompt);
}
END_TEST

/* What an engine lists whose predecessor was killed. */
static const char interrupted[] =
    "[{\"run\":1,\"status\":\"interrupted\",\"error\":\"killed\"},"
    "{\"run\":2,\"status\":\"done\"},"
    "{\"run\":3,\"status\":\"interrupted\",\"error\":\"the engine was killed\"},"
    "{\"run\":4,\"status\":\"interrupted\",\"error\":\"the engine was killed\"}]";

START_TEST(a_crash_is_told_of_once)
{
    json_t *runs = json_loads(interrupted, 0, NULL);

    ui_connected(&replay.ui);
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    expect_message("2 runs were interrupted: R lists them, and there a lets one go on");
    expect_on_screen("interrupted", true);
    replay_keys(&replay, "<Down>");
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    expect_message("");
    /* Once another was trained, that is settled. */
    json_array_append_new(runs, json_pack("{s:i, s:s}", "run", 5, "status", "stopped"));
    ui_connected(&replay.ui);
    ui_answer(&replay.ui, REQUEST_RUNS, runs, NULL);
    expect_message("");
    json_decref(runs);
}
END_TEST

START_TEST(going_on_forgets_what_was_behind)
{
    replay_keys(&replay, "/run=13<Enter>");
    struct state_run *run = state_run(&replay.ui.state, 13);
    ck_assert_int_gt(run->point_count, 0);
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"run\",\"run\":13,"
                         "\"resumed_at\":235}}");
    run = state_run(&replay.ui.state, 13);
    ck_assert_int_eq(run->point_count, 0);
    ck_assert_int_eq(run->fine_count, 0);
    /* Its curve is on the screen, so it is asked for anew. */
    ck_assert(run->curve_known);
    ck_assert_int_eq(replay.wanted[replay.wanted_count - 1], 13);
}
END_TEST

START_TEST(details_tell_of_checkpoints_and_shares)
{
    replay_keys(&replay, "/run=13<Enter><Enter>");
    json_t *shown = json_deep_copy(json_object_get(replay.shows, "13"));
    json_object_set_new(shown, "checkpoint",
                        json_pack("{s:i, s:f}", "steps", 470, "time", 1763650031.5));
    json_object_set_new(shown, "shares",
                        json_pack("[{s:i, s:i, s:[i, i], s:s}]", "epoch", 1, "step", 20, "shares",
                                  192, 64, "reason",
                                  "by the measured speeds a step computes 50% less time"));
    ui_answer(&replay.ui, REQUEST_SHOW, shown, NULL);
    expect_on_screen("checkpoint behind step 470, 2025-11-20 14:47:11", true);
    expect_on_screen("step 20, epoch 1: rows 192 + 64, by the measured speeds a step computes 50%",
                     true);
    json_object_set_new(shown, "checkpoint", json_null());
    ui_answer(&replay.ui, REQUEST_SHOW, shown, NULL);
    expect_on_screen("checkpoint behind", false);
    json_decref(shown);
}
END_TEST

START_TEST(the_selected_run_is_controlled)
{
    replay_keys(&replay, "x");
    ck_assert_str_eq(replay.ui.question_text, "Take run 20 out of the queue?");
    replay_keys(&replay, "yp");
    ck_assert_str_eq(replay_last(&replay), "stop {\"run\":20,\"when\":\"step\"}");
    expect_message("run 20 waits: there is nothing to pause");
    replay_keys(&replay, "r0.5<Enter>");
    ck_assert_str_eq(replay_last(&replay), "set_lr {\"run\":20,\"lr\":0.5}");
    replay_keys(&replay, "<Down><Down>p");
    ck_assert_str_eq(replay_last(&replay), "pause {\"run\":18}");
    expect_message("run 18 pauses after this step");
    /* Never another run than the one in focus. */
    replay_keys(&replay, "<Down>x");
    ck_assert_ptr_null(replay.ui.question);
    expect_message("run 17 has ended");
}
END_TEST

START_TEST(settings_go_into_the_form)
{
    replay_keys(&replay, "/run=4<Enter>u");
    ck_assert_str_eq(replay_last(&replay), "show {\"run\":4}");
    ui_answer(&replay.ui, REQUEST_COPY, json_object_get(replay.shows, "4"), NULL);
    expect_message("the form has the settings of run 4");
    ck_assert_int_eq(replay.ui.form.spec.batch, 2048);
}
END_TEST

START_TEST(details_follow_the_run)
{
    replay_keys(&replay, "<Down><Down><Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
    ck_assert_int_eq(replay.ui.details.epoch_count, 5);
    expect_on_screen("lr from 0.2 to 0.05", true);
    expect_on_screen("weight-decay  0.0005", true);
    replay_line(&replay,
                "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,\"epoch\":6,"
                "\"test_acc\":0.9912,\"seconds\":10,\"eval_s\":1,\"devices\":[{\"device\":"
                "\"cpu:0\",\"compute_s\":6,\"sync_s\":1,\"wait_s\":3},{\"device\":\"cpu:1\","
                "\"compute_s\":8,\"sync_s\":1,\"wait_s\":1}]}}");
    ck_assert_int_eq(replay.ui.details.epoch_count, 6);
    ck_assert_double_eq(replay.ui.details.epochs[5].compute_s, 7);
    ck_assert_double_eq(replay.ui.details.epochs[5].wait_s, 2);
    ck_assert_int_eq(details_slowest(&replay.ui.details), 1);
    ck_assert_int_eq(details_best(&replay.ui.details), 5);
    expect_on_screen("0.9912", true);
    expect_on_screen("Devices in epoch 6", true);
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"end\",\"run\":18,"
                         "\"status\":\"done\"}}");
    ck_assert_int_eq(replay.wanted_count, 1);
    /* Of other runs nothing is taken. */
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":17,"
                         "\"epoch\":7}}");
    ck_assert_int_eq(replay.ui.details.epoch_count, 6);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    expect_selected(18);
}
END_TEST

START_TEST(time_adds_up)
{
    replay_keys(&replay, "/run=4<Enter><Enter>");
    struct time_spent spent = details_time(&replay.ui.details);
    double seconds = 0;

    for (int i = 0; i < replay.ui.details.epoch_count; i++)
        seconds += replay.ui.details.epochs[i].seconds + replay.ui.details.epochs[i].eval_s;
    ck_assert_int_eq(replay.ui.details.epoch_count, 4);
    ck_assert_double_eq_tol(spent.total, seconds, 1e-6);
    ck_assert(spent.compute > spent.wait && spent.wait > spent.reduce && spent.reduce > 0);
}
END_TEST

START_TEST(details_scroll_to_their_end)
{
    char *screen;

    replay_keys(&replay, "<Down><Down><Enter>");
    free(replay_screen(&replay, 24, 80, false));
    replay_keys(&replay, "<End>");
    int last = replay.ui.line;
    ck_assert_int_gt(last, 10);
    replay_keys(&replay, "<Down>");
    ck_assert_int_eq(replay.ui.line, last);
    screen = replay_screen(&replay, 24, 80, false);
    ck_assert_ptr_nonnull(strstr(screen, "\n    *5 "));
    free(screen);
    /* On a screen that holds all of it one key leads back from the end that was. */
    free(replay_screen(&replay, 60, 200, false));
    replay_keys(&replay, "<Up>");
    ck_assert_int_eq(replay.ui.line, 0);
}
END_TEST

START_TEST(details_of_a_forgotten_run_close)
{
    replay_keys(&replay, "/run=4<Enter><Enter>Xy");
    ck_assert_str_eq(replay_last(&replay), "delete {\"run\":4}");
    forget(4);
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    expect_message("run 4 is forgotten");
}
END_TEST

START_TEST(the_dashboard_shares_it_all)
{
    replay_keys(&replay, "<Down><Down><Down> D");
    replay.ui.focus = PANEL_RUNS;
    expect_selected(17);
    expect_on_screen("*17", true);
    expect_on_screen("queued 2", true);
    replay_keys(&replay, "<Down> <Up> ");
    ck_assert(ui_is_marked(&replay.ui, 16) && !ui_is_marked(&replay.ui, 17));
    replay_keys(&replay, "<Enter>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUN);
    ck_assert_int_eq(replay.ui.details.run, 17);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_DASHBOARD);
    /* There x is for the run that goes on, with an ended one in focus. */
    replay_keys(&replay, "x");
    ck_assert_int_eq(replay.ui.asked_run, 18);
    replay_keys(&replay, "n");
    forget(17);
    expect_selected(16);
    replay_keys(&replay, "<Home>K");
    expect_selected(20);
    ck_assert_str_eq(replay_last(&replay), "move {\"run\":20,\"place\":0}");
    replay.ui.selected_run = 0;
    ui_show_view(&replay.ui, VIEW_RUN);
    expect_selected(20);
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
    expect_message("nothing is suggested: choose more devices or fewer first");
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

int main(void)
{
    Suite *suite = suite_create("ui runs");
    TCase *tests = tcase_create("ui runs");

    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, the_selection_survives);
    tcase_add_test(tests, a_filter_acts_while_it_is_typed);
    tcase_add_test(tests, marks_show_and_go);
    tcase_add_test(tests, the_oldest_mark_gives_way);
    tcase_add_test(tests, only_what_has_ended_is_deleted);
    tcase_add_test(tests, deleting_the_last_line_moves_up);
    tcase_add_test(tests, the_queue_moves);
    tcase_add_test(tests, notes_are_written);
    tcase_add_test(tests, tags_are_written);
    tcase_add_test(tests, what_has_ended_goes_on);
    tcase_add_test(tests, a_crash_is_told_of_once);
    tcase_add_test(tests, going_on_forgets_what_was_behind);
    tcase_add_test(tests, details_tell_of_checkpoints_and_shares);
    tcase_add_test(tests, the_selected_run_is_controlled);
    tcase_add_test(tests, settings_go_into_the_form);
    tcase_add_test(tests, details_follow_the_run);
    tcase_add_test(tests, time_adds_up);
    tcase_add_test(tests, details_scroll_to_their_end);
    tcase_add_test(tests, details_of_a_forgotten_run_close);
    tcase_add_test(tests, the_dashboard_shares_it_all);
    tcase_add_test(tests, lost_runs_do_not_run);
    tcase_add_test(tests, another_engine_has_other_curves);
    tcase_add_test(tests, a_key_without_a_meaning_says_so);
    tcase_add_test(tests, a_silent_engine_is_seen);
    tcase_add_test(tests, a_long_message_is_readable_to_its_end);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

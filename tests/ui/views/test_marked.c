/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "tests/suites.h"
#include "tests/ui/runs_fixture.h"
#include "ui/control/engine.h"

/* What keys do to all marked runs. */

/* The request before the newest ones, `back` of them. */
static void expect_asked(int back, const char *text)
{
    ck_assert_int_gt(replay.asked_count, back);
    ck_assert_str_eq(replay.asked[replay.asked_count - 1 - back], text);
}

/* Marks 18, which trains and is above all others, 16 and 13. */
static void mark_three(void)
{
    replay_keys(&replay, " <Down><Down><Down><Down> <Down><Down><Down> <Down>");
    ck_assert_int_eq(replay.ui.mark_count, 3);
    expect_selected(12);
}

/* The engine's answer about `runs`, a JSON array. */
static void answer_measured(const char *runs, int count, int bytes)
{
    json_t *list = json_loads(runs, 0, NULL);
    json_t *answer = json_pack("{s:o, s:i, s:i}", "runs", list, "count", count, "bytes", bytes);
    ck_assert_ptr_nonnull(answer);
    ui_answer(&replay.ui, REQUEST_CHECKPOINTS, answer, NULL);
    json_decref(answer);
}

/* The engine's answer to one request. */
static void answer_deleted(const char *failure)
{
    struct error err = ERROR_INIT;
    json_t *done = failure ? NULL : json_object();
    if (failure)
        error_set(&err, ERROR_FAILED, "%s", failure);
    ui_answer(&replay.ui, REQUEST_DELETE, done, &err);
    json_decref(done);
}

START_TEST(one_question_deletes_them)
{
    mark_three();
    replay_keys(&replay, "X");
    expect_asked(0, "checkpoints {\"runs\":[13,16]}");
    ck_assert_str_eq(replay.ui.question_text,
                     "Delete 2 runs (#13, #16) with their curves and epochs? Run 18 has not ended "
                     "and stays.");
    answer_measured("[13, 16]", 3, 43200000);
    ck_assert_str_eq(replay.ui.question_text,
                     "Delete 2 runs (#13, #16) with their curves, epochs and 3 checkpoints of 41.2 "
                     "MiB? Run 18 has not ended and stays.");
    replay_keys(&replay, "n");
    expect_asked(0, "checkpoints {\"runs\":[13,16]}");
    /* Too late: nothing is asked any more. */
    answer_measured("[13, 16]", 3, 43200000);
    ck_assert_ptr_null(replay.ui.question);
    replay_keys(&replay, "Xy");
    expect_asked(1, "delete {\"run\":13}");
    expect_asked(0, "delete {\"run\":16}");
    expect_message("2 runs are being deleted");
    answer_deleted(NULL);
    expect_message("2 runs are being deleted");
    /* The list is asked for once. */
    expect_asked(0, "delete {\"run\":16}");
    answer_deleted(NULL);
    expect_message("2 runs are deleted");
    expect_asked(0, "runs ");
    without_run(13);
    without_run(16);
    ck_assert_int_eq(replay.ui.mark_count, 1);
    replay_keys(&replay, "X");
    ck_assert_ptr_null(replay.ui.question);
    expect_message("run 18 has not ended: stop it first");
}
END_TEST

START_TEST(what_stays_is_said)
{
    mark_three();
    replay_keys(&replay, "Xy");
    answer_deleted("run 13 trains again");
    expect_message("run 13 trains again");
    answer_deleted(NULL);
    expect_message("1 of 2 runs are deleted; the log says why the others are not");
    replay_keys(&replay, "Xy");
    answer_deleted(NULL);
    answer_deleted("run 16 is resumed");
    expect_message("1 of 2 runs are deleted: run 16 is resumed");
    expect_asked(0, "runs ");
    /* Of one alone the engine has said it. */
    replay_keys(&replay, "<Esc>/run=13<Enter>Xy");
    answer_deleted("run 13 trains again");
    expect_message("run 13 trains again");
}
END_TEST

/* On a slow line another question is answered before the first run is deleted. */
START_TEST(deletions_add_up)
{
    replay_keys(&replay, "/run=13<Enter>Xy/run=16<Enter>Xy");
    answer_deleted(NULL);
    expect_message("run 16 is being deleted");
    answer_deleted(NULL);
    expect_message("2 runs are deleted");
}
END_TEST

/* Marks outlive a filter. */
START_TEST(what_the_filter_hides_is_said)
{
    mark_three();
    replay_keys(&replay, "/run=13<Enter>X");
    ck_assert_str_eq(replay.ui.question_text,
                     "Delete 2 runs (#13, #16; the filter hides 1) with their curves and epochs? "
                     "Run 18 has not ended and stays.");
    replay_keys(&replay, "n/run=1<Enter>X");
    ck_assert_str_eq(replay.ui.question_text,
                     "Delete 2 runs (#13, #16; the filter hides 2) with their curves and epochs? "
                     "Run 18 has not ended and stays.");
}
END_TEST

START_TEST(without_marks_the_selected_one_goes)
{
    replay_keys(&replay, "/run=13<Enter>X");
    ck_assert_str_eq(replay.ui.question_text, "Delete run 13 with its curve and epochs?");
    answer_measured("[13]", 1, 2048);
    ck_assert_str_eq(replay.ui.question_text,
                     "Delete run 13 with its curve, epochs and 1 checkpoint of 2.0 KiB?");
    /* They may have been deleted otherwise since. */
    replay_keys(&replay, "nX");
    answer_measured("[13]", 1, 2048);
    answer_measured("[13]", 0, 0);
    ck_assert_str_eq(replay.ui.question_text, "Delete run 13 with its curve and epochs?");
    /* In its details a key is about this run, whatever is marked. */
    replay_keys(&replay, "n/<Esc><Home>");
    mark_three();
    replay_keys(&replay, "<Enter>X");
    expect_asked(0, "checkpoints {\"runs\":[12]}");
}
END_TEST

START_TEST(a_late_answer_is_about_its_own_question)
{
    replay_keys(&replay, "/run=13<Enter>Xn/run=16<Enter>X");
    answer_measured("[13]", 3, 43200000);
    ck_assert_str_eq(replay.ui.question_text, "Delete run 16 with its curve and epochs?");
    answer_measured("[16]", 0, 0);
    ck_assert_str_eq(replay.ui.question_text, "Delete run 16 with its curve and epochs?");
}
END_TEST

START_TEST(an_engine_that_does_not_measure)
{
    const struct error failure = {ERROR_FAILED, "unknown method"};
    replay_keys(&replay, "/run=13<Enter>X");
    ui_answer(&replay.ui, REQUEST_CHECKPOINTS, NULL, &failure);
    ck_assert_str_eq(replay.ui.message.text, "");
    replay_keys(&replay, "y");
    expect_asked(0, "delete {\"run\":13}");
}
END_TEST

START_TEST(tags_of_all_are_edited)
{
    snprintf(state_run(&replay.ui.state, 13)->tags, 200, "cold thesis");
    snprintf(state_run(&replay.ui.state, 16)->tags, 200, "thesis warm");
    snprintf(state_run(&replay.ui.state, 18)->tags, 200, "thesis");
    mark_three();
    replay_keys(&replay, "T");
    expect_on_screen("Tags that all marked runs have: thesis", true);
    ck_assert_str_eq(replay.ui.editor.text, "thesis ");
    replay_keys(&replay, "\x15"
                         "final<Enter>");
    expect_asked(2, "tag {\"run\":13,\"add\":[\"final\"],\"remove\":[\"thesis\"]}");
    expect_asked(1, "tag {\"run\":16,\"add\":[\"final\"],\"remove\":[\"thesis\"]}");
    expect_asked(0, "tag {\"run\":18,\"add\":[\"final\"],\"remove\":[\"thesis\"]}");
}
END_TEST

static char written[256];

/* Writes down what it was given: "FILE: 13 16 18". */
static bool write_runs(const char *path, json_t *const *shown, int count, struct error *err)
{
    size_t used = (size_t)snprintf(written, sizeof written, "%s:", path);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(written + used, sizeof written - used, " %d",
                                 (int)json_integer_value(json_object_get(shown[i], "run")));
    return strcmp(path, "full.csv") != 0 || error_set(err, ERROR_FAILED, "full.csv: no space left");
}

static void answer_show(int run)
{
    json_t *answer = json_pack("{s:i, s:[]}", "run", run, "epochs");
    ui_answer(&replay.ui, REQUEST_EXPORT, answer, NULL);
    json_decref(answer);
}

START_TEST(epochs_are_exported)
{
    const struct error failure = {ERROR_ABSENT, "there is no run 16"};
    written[0] = '\0';
    replay_keys(&replay, "E");
    ck_assert_ptr_null(replay.ui.prompt);
    replay.ui.exported.write = write_runs;
    replay_keys(&replay, "/run=4<Enter>E");
    ck_assert_str_eq(replay.ui.editor.text, "run-4.csv");
    /* As a command's output it would go over the screen. */
    for (const char *at = "run-4.csv"; *at; at++)
        replay_keys(&replay, "<Backspace>");
    replay_keys(&replay, "-<Enter>");
    expect_message("wants the name of a file; ./- is one");
    ck_assert_ptr_nonnull(replay.ui.prompt);
    replay_keys(&replay, "<Esc>/<Esc><Home>");
    mark_three();
    replay_keys(&replay, "Ea.csv<Enter>");
    expect_asked(2, "show {\"run\":13}");
    expect_asked(0, "show {\"run\":18}");
    answer_show(18);
    answer_show(13);
    ck_assert_str_eq(written, "");
    answer_show(16);
    ck_assert_str_eq(written, "a.csv: 13 16 18");
    expect_message("the epochs of 3 runs are in a.csv");
    /* What is not in it is in the store. */
    replay_keys(&replay, "Ed.csv<Enter>");
    answer_show(13);
    answer_show(16);
    json_t *answer = json_pack("{s:i, s:[n, n, n], s:{s:i, s:i}}", "run", 18, "epochs", "thinned",
                               "kept", 3, "of", 12000);
    ui_answer(&replay.ui, REQUEST_EXPORT, answer, NULL);
    json_decref(answer);
    expect_message("3 of 12000 epochs are in d.csv: 'dpartui export' writes all");
    /* A failure of the file, of the engine, of the line. */
    replay_keys(&replay, "Efull.csv<Enter>");
    answer_show(13);
    answer_show(16);
    answer_show(18);
    expect_message("full.csv: no space left");
    written[0] = '\0';
    replay_keys(&replay, "Eb.csv<Enter>");
    answer_show(13);
    ui_answer(&replay.ui, REQUEST_EXPORT, NULL, &failure);
    expect_message("b.csv is not written: there is no run 16");
    answer_show(16);
    answer_show(18);
    replay_keys(&replay, "Ec.csv<Enter>");
    ui_disconnected(&replay.ui, LINK_LOST, "gone");
    expect_message("c.csv is not written: the engine is lost");
    ck_assert_str_eq(written, "");
}
END_TEST

START_TEST(two_stand_side_by_side)
{
    replay_keys(&replay, "d");
    expect_message("mark two runs, or one and select another: 0 marked");
    mark_three();
    replay_keys(&replay, "d");
    expect_message("mark two runs, or one and select another: 3 marked");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    /* Both marked ones, whichever is selected. */
    replay_keys(&replay, "<Up> d");
    ck_assert_int_eq(replay.ui.view, VIEW_DIFFERENCES);
    ck_assert(replay.ui.pair.run[0] == 16 && replay.ui.pair.run[1] == 18);
    expect_on_screen("the engine has not told them yet", true);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
    /* The only one and the selected one. */
    replay_keys(&replay, "/run=16<Enter> /run=4<Enter>d");
    ck_assert(replay.ui.pair.run[0] == 4 && replay.ui.pair.run[1] == 18);
    expect_asked(1, "show {\"run\":4}");
    expect_asked(0, "show {\"run\":18}");
    ck_assert(replay.ui.pair.known);
    expect_on_screen("batch              2048 ", true);
    /* What they give follows the run. */
    replay_line(&replay, "{\"method\":\"event\",\"params\":{\"event\":\"epoch\",\"run\":18,"
                         "\"epoch\":3,\"test_acc\":0.765}}");
    expect_on_screen("0.765", true);
    without_run(4);
    expect_on_screen("run 4 ", true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("marked");
    TCase *tests = runs_case("marked runs");
    tcase_add_test(tests, one_question_deletes_them);
    tcase_add_test(tests, what_stays_is_said);
    tcase_add_test(tests, deletions_add_up);
    tcase_add_test(tests, what_the_filter_hides_is_said);
    tcase_add_test(tests, without_marks_the_selected_one_goes);
    tcase_add_test(tests, a_late_answer_is_about_its_own_question);
    tcase_add_test(tests, an_engine_that_does_not_measure);
    tcase_add_test(tests, tags_of_all_are_edited);
    tcase_add_test(tests, two_stand_side_by_side);
    tcase_add_test(tests, epochs_are_exported);
    suite_add_tcase(suite, tests);
    return run_suites(suite, NULL);
}

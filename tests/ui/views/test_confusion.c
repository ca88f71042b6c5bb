/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "events/confusion.h"
#include "tests/suites.h"
#include "tests/ui/runs_fixture.h"
#include "ui/control/engine.h"

/* The page of what a network takes for what, by keys and messages. */

/* Requests of a method so far. */
static int asked(const char *method)
{
    int count = 0;
    for (int i = 0; i < replay.asked_count; i++)
        count += strncmp(replay.asked[i], method, strlen(method)) == 0;
    return count;
}

/* The engine answers with 5 of 10 rows right, or with a refusal. */
static void answer(const char *failure)
{
    struct error err = ERROR_INIT;
    json_t *result =
        json_pack("{s:s, s:s, s:f, s:i, s:f, s:[[i, i], [i, i]], s:[s, s]}", "model", "linear",
                  "data", "glyphs", "test_acc", 0.5, "test_rows", 10, "seconds", 0.5, "confusion",
                  3, 4, 1, 2, "class_names", "cat", "dog");
    error_set(&err, ERROR_FAILED, "%s", failure ? failure : "");
    ui_answer(&replay.ui, REQUEST_EVALUATE, failure ? NULL : result, &err);
    json_decref(result);
}

START_TEST(the_engine_is_asked_and_says_how_far_it_is)
{
    replay_keys(&replay, "/run=13<Enter>m");
    ck_assert_str_eq(replay_last(&replay), "evaluate {\"run\":13,\"best\":false,\"confusion\":"
                                           "true,\"background\":true}");
    expect_on_screen("the engine prepares to test its newest checkpoint", true);
    replay_line(&replay, "{\"method\":\"evaluate\",\"params\":{\"phase\":\"evaluate\",\"done\":"
                         "320,\"total\":10000}}");
    expect_on_screen("the engine tests its newest checkpoint: 320 of 10000 rows", true);
    replay_keys(&replay, "m");
    expect_message("the engine is testing the network already");
    answer(NULL);
    expect_on_screen("cat taken for dog: 4 of 7", true);
    expect_on_screen("1 dog 1 2", true);
    /* It stays while other pages are seen. */
    replay_keys(&replay, "<Esc>m");
    ck_assert_int_eq(asked("evaluate"), 1);
    expect_on_screen("cat taken for dog: 4 of 7", true);
    replay_keys(&replay, "m");
    ck_assert_int_eq(asked("evaluate"), 2);
    expect_on_screen("cat taken for dog", false);
}
END_TEST

START_TEST(escape_cancels_first)
{
    replay_keys(&replay, "m<Esc>");
    ck_assert_str_eq(replay_last(&replay), "cancel {\"method\":\"evaluate\"}");
    ck_assert_int_eq(replay.ui.view, VIEW_CONFUSION);
    answer("the evaluation was cancelled");
    expect_on_screen("the evaluation was cancelled", true);
    expect_on_screen("m tries again", true);
    replay_keys(&replay, "<Esc>");
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
}
END_TEST

START_TEST(the_best_checkpoint_is_another_question)
{
    replay_keys(&replay, "/run=13<Enter>m");
    answer(NULL);
    replay_keys(&replay, "b");
    ck_assert_str_eq(replay_last(&replay), "evaluate {\"run\":13,\"best\":true,\"confusion\":"
                                           "true,\"background\":true}");
    expect_on_screen("prepares to test its best checkpoint", true);
    /* Back to the newest: what is computed is of no use. */
    replay_keys(&replay, "b");
    ck_assert_str_eq(replay_last(&replay), "cancel {\"method\":\"evaluate\"}");
    answer("the evaluation was cancelled");
    ck_assert_int_eq(asked("evaluate"), 3);
    expect_on_screen("prepares to test its newest checkpoint", true);
    answer(NULL);
    expect_on_screen("its newest checkpoint, after step", true);
}
END_TEST

START_TEST(one_run_after_the_other)
{
    replay_keys(&replay, "/run=13<Enter>m");
    replay_keys(&replay, "R/run=7<Enter>m");
    ck_assert_int_eq(asked("evaluate"), 1);
    ck_assert_str_eq(replay_last(&replay), "cancel {\"method\":\"evaluate\"}");
    /* It was too late: the answer is the other run's. */
    answer(NULL);
    expect_on_screen("cat", false);
    ck_assert_str_eq(replay_last(&replay), "evaluate {\"run\":7,\"best\":false,\"confusion\":true,"
                                           "\"background\":true}");
    /* Done while another page is seen. */
    replay_keys(&replay, "R");
    answer(NULL);
    expect_message("run 7: it is known what it confuses");
    replay_keys(&replay, "m");
    expect_on_screen("Run 7: what its network takes for what", true);
    ck_assert_int_eq(asked("evaluate"), 2);
    /* An answer that nobody waits for. */
    answer("late");
    expect_on_screen("late", false);
}
END_TEST

START_TEST(a_lost_engine_is_asked_again)
{
    replay_keys(&replay, "/run=13<Enter>m");
    ui_disconnected(&replay.ui, LINK_LOST, "the engine is gone");
    expect_on_screen("- not known without the engine", true);
    ui_connected(&replay.ui);
    ck_assert_int_eq(asked("evaluate"), 2);
    answer("run 13 has no checkpoint in /tmp");
    expect_on_screen("run 13 has no checkpoint in /tmp", true);
    without_run(13);
    ck_assert_int_eq(replay.ui.view, VIEW_RUNS);
}
END_TEST

/* What is no whole matrix is none. */
START_TEST(wrong_answers_are_refused)
{
    static const char *const wrong[] = {
        "{}",
        "{\"confusion\":[]}",
        "{\"confusion\":3}",
        "{\"confusion\":[[1,2],[3]]}",
        "{\"confusion\":[[1,2],[3,-4]]}",
        "{\"confusion\":[[1,2],[3,\"4\"]]}",
        "{\"confusion\":[[1,2],[3,99999999999]]}",
    };
    replay_keys(&replay, "m");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *result = json_loads(wrong[i], 0, NULL);
        ck_assert_ptr_nonnull(result);
        ui_answer(&replay.ui, REQUEST_EVALUATE, result, NULL);
        expect_on_screen("the engine's answer has no", true);
        json_decref(result);
        replay_keys(&replay, "m");
    }
}
END_TEST

START_TEST(a_matrix_is_summed_up)
{
    struct confusion_table table;
    struct error err = ERROR_INIT;
    char name[CONFUSION_NAME];
    json_t *matrix = json_loads("{\"confusion\":[[5,0,2],[2,4,2],[0,0,0]],\"class_names\":"
                                "[\"a\",7]}",
                                0, NULL);
    ck_assert_msg(confusion_table_read(&table, matrix, &err), "%s", err.text);
    ck_assert(table.rows == 15 && table.right == 9 && table.most == 5);
    ck_assert(table.class[0].rows == 7 && table.class[0].predicted == 7);
    ck_assert_double_eq_tol(table.class[1].recall, 0.5, 1e-12);
    ck_assert_double_eq_tol(table.class[1].precision, 1, 1e-12);
    /* Without rows there is no accuracy; four were taken for it, none rightly. */
    ck_assert(table.class[2].recall != table.class[2].recall);
    ck_assert_double_eq_tol(table.class[2].precision, 0, 1e-12);
    /* The most rows first, equal ones in the order of the classes. */
    static const struct confusion_pair pairs[] = {{0, 2, 2}, {1, 0, 2}, {1, 2, 2}};
    ck_assert_uint_eq(table.pair_count, 3);
    ck_assert_mem_eq(table.pairs, pairs, sizeof pairs);
    ck_assert_str_eq(confusion_name(&table, 0, name), "a");
    ck_assert_str_eq(confusion_name(&table, 1, name), "class 1");
    confusion_table_free(&table);
    json_decref(matrix);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("confusion");
    TCase *keys = runs_case("keys");
    tcase_add_test(keys, the_engine_is_asked_and_says_how_far_it_is);
    tcase_add_test(keys, escape_cancels_first);
    tcase_add_test(keys, the_best_checkpoint_is_another_question);
    tcase_add_test(keys, one_run_after_the_other);
    tcase_add_test(keys, a_lost_engine_is_asked_again);
    tcase_add_test(keys, wrong_answers_are_refused);
    tcase_add_test(keys, a_matrix_is_summed_up);
    suite_add_tcase(suite, keys);
    return run_suites(suite, NULL);
}

/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spec/json.h"
#include "tests/ui/form/form_fixture.h"
#include "ui/control/engine.h"

/* The engine is asked once about each state of the form, and its answer shown. */
START_TEST(the_engine_is_asked_about_the_form)
{
    struct error err = ERROR_INIT;
    int checks;
    count_checks(&checks);
    replay_keys(&replay, "<Tab>");
    ck_assert_int_eq(checks, 1);
    replay_keys(&replay, "<Down><Down><Down>+"); /* the batch; the answer is still to come */
    ck_assert_int_eq(checks, 1);
    answer_check("{\"model\":\"smallnet\",\"data\":\"glyphs\",\"train_rows\":400}");
    ck_assert_int_eq(checks, 2);
    char *screen = replay_screen(&replay, 24, 120, true);
    ck_assert_ptr_nonnull(strstr(screen, "model     smallnet"));
    ck_assert_ptr_nonnull(strstr(screen, "data      glyphs"));
    ck_assert_ptr_null(strstr(screen, "(default)"));
    ck_assert_ptr_nonnull(strstr(screen, "batch 512: there are 400 training"));
    free(screen);
    error_set(&err, ERROR_USAGE, "no model 'smalnet'");
    ui_answer(&replay.ui, REQUEST_CHECK, NULL, &err);
    screen = replay_screen(&replay, 24, 120, true);
    ck_assert_ptr_nonnull(strstr(screen, "! no model 'smalnet'"));
    free(screen);
    replay_keys(&replay, "<Up><Down>");
    ck_assert_int_eq(checks, 2);
    replay.ui.requester.send = NULL;
}
END_TEST

/* A file that was missing may be there a moment later. */
START_TEST(a_problem_is_asked_about_again)
{
    struct error err = ERROR_INIT;
    int checks;
    count_checks(&checks);
    replay_keys(&replay, "<Tab>");
    error_set(&err, ERROR_USAGE, "x.conf: cannot open");
    ui_answer(&replay.ui, REQUEST_CHECK, NULL, &err);
    ck_assert_int_eq(checks, 1);
    replay.ui.check.again = INFINITY; /* it has just been asked */
    replay_line(&replay, "{\"method\":\"state\",\"params\":{}}");
    ck_assert_int_eq(checks, 1);
    replay.ui.check.again = 0;
    replay_line(&replay, "{\"method\":\"state\",\"params\":{}}");
    replay_line(&replay, "{\"method\":\"state\",\"params\":{}}");
    ck_assert_int_eq(checks, 2);
    ck_assert_str_eq(replay.ui.check.problem, "x.conf: cannot open");
    answer_check("{\"model\":\"x\",\"data\":\"glyphs\",\"train_rows\":400}");
    ck_assert_str_eq(replay.ui.check.problem, "");
    replay_line(&replay, "{\"method\":\"state\",\"params\":{}}");
    ck_assert_int_eq(checks, 2);
    /* What trains was accepted. */
    json_t *started = json_pack("{s:i}", "run", 1);
    ui_answer(&replay.ui, REQUEST_SUBMIT, started, NULL);
    json_decref(started);
    ck_assert_int_eq(checks, 3);
    replay.ui.requester.send = NULL;
}
END_TEST

/* What the recipe says is shown dim with its source, goes when it is not its any more, and is not
 * submitted. */
START_TEST(recipes_fill_the_form)
{
    int checks;
    count_checks(&checks);
    replay_keys(&replay, "<Tab>");
    answer_check("{\"model\":\"lenet\",\"lr\":0.5,\"batch\":64,\"epochs\":10,"
                 "\"origins\":{\"lr\":\"recipe\",\"batch\":\"recipe\"}}");
    check_field(FORM_LR, "0.5");
    check_field(FORM_BATCH, "64");
    replay_keys(&replay, "<Down><Down><Down>");
    char *screen = replay_screen(&replay, 24, 120, true);
    ck_assert_ptr_nonnull(strstr(screen, "batch (lenet's recipe): global batch size"));
    free(screen);
    ck_assert_int_eq(style_of_value("lr"), STYLE_LABEL);
    ck_assert_int_eq(style_of_value("epochs"), STYLE_NORMAL);
    ck_assert_int_eq(checks, 1);
    replay_keys(&replay, "+"); /* given now */
    check_field(FORM_BATCH, "128");
    ck_assert_int_eq(checks, 2);
    answer_check("{\"model\":\"smallnet\",\"lr\":0.1,\"batch\":128,\"origins\":{}}");
    check_field(FORM_LR, "0.1");
    check_field(FORM_BATCH, "128");
    json_t *given = spec_given_to_json(&replay.ui.form.spec);
    ck_assert_int_eq(json_integer_value(json_object_get(given, "batch")), 128);
    ck_assert_ptr_null(json_object_get(given, "lr"));
    json_decref(given);
    /* Nothing typed: as if it had not been given. */
    replay_keys(&replay, "<Enter>");
    replay_key(&replay, 'U' & 0x1f);
    replay_keys(&replay, "<Enter>");
    check_field(FORM_BATCH, "256");
    replay.ui.requester.send = NULL;
}
END_TEST

Suite *form_check_suite(void)
{
    Suite *suite = suite_create("form check");
    TCase *tests = tcase_create("form check");
    tcase_add_checked_fixture(tests, form_begin, form_end);
    tcase_add_test(tests, the_engine_is_asked_about_the_form);
    tcase_add_test(tests, a_problem_is_asked_about_again);
    tcase_add_test(tests, recipes_fill_the_form);
    suite_add_tcase(suite, tests);
    return suite;
}
